"""Each field of an import is declared with its lifetime: so it is decided for each whether a retry forgets it."""

from collections import Counter

from importer.models import ImportJob
from importer.models.job.lifetimes import LIFETIMES


def test_each_field_has_one_lifetime():
    named = Counter(field.name for lifetime in LIFETIMES for field in lifetime._meta.local_fields)
    assert named == Counter(field.name for field in ImportJob._meta.fields if not field.primary_key)
