"""Filters of the list of imports that people save for themselves under a name."""

from django.contrib.auth.models import User

from importer.engine.errors import Problem
from importer.models import SavedFilter

MOST = 30  # of one person: more would fill the page


def save(user: User, name: str, query: str) -> SavedFilter:
    """Save a filter, `query` as it stands in an address. A name that the person has used before gets the new one.

    Raises Problem for a missing or long name, for no filter or a long one, and if the person has as many as allowed.
    """
    name = name.strip()
    if not name or len(name) > SavedFilter.LONGEST_NAME:
        raise Problem("The filter needs a name.", advice=f"Use at most {SavedFilter.LONGEST_NAME} characters.")
    if not query:
        raise Problem("Nothing is filtered.", advice="Choose a filter, then save it.")
    if len(query) > SavedFilter.LONGEST_QUERY:
        what = (
            f"The filter takes {len(query):,} characters of an address, and at most {SavedFilter.LONGEST_QUERY:,} fit."
        )
        raise Problem(what, advice="Search for a shorter text.")
    if not user.saved_filters.filter(name=name).exists() and user.saved_filters.count() >= MOST:
        raise Problem(f"You have {MOST} saved filters.", advice="Delete one first.")
    return SavedFilter.objects.update_or_create(user=user, name=name, defaults={"query": query})[0]
