"""Everything that the pages do, the API does: by an operation with the page's rule, or for a reason it does not."""

from dashboard import urls
from dashboard.access.api_rules import API
from dashboard.sign_in import urls as sign_in

# Names in dashboard.urls that no operation of the API stands for, each with the reason, or with what does the same.
LEFT_OUT = {
    "healthz": "for a program that watches the server: it needs no token",
    "readyz": "for a program that watches the server: it needs no token",
    "metrics": "for Prometheus, which takes a token as well",
    **dict.fromkeys((each.name for each in sign_in.urlpatterns), "signing in, passwords and factors take a browser"),
    "invitation": "a person sets a password there",
    "account_token_new": "a token that leaks must make no others",
    "person_factors": "a token that leaks must not take the second factor from an account",
    "home": "puts together what other lists have",
    # What one operation does with other values.
    "jobs_bulk": "a program sends the action for each import",
    "job_edit": "imports/{job}/run-again takes other options, and imports everything else",
    "person_active": "PATCH people/{id} has `active`",
    "person_groups": "PATCH people/{id} has `groups`",
    "group_members": "PATCH groups/{id} has `members`",
    "channel_switch": "PATCH channels/{id} has `on`",
    "new_places": "connections lists them",
    "new_from": "connections/{id}/files lists them",
    "new_from_lines": "connections/{id}/lines shows them",
    "new_together": "imports and plans take several files",
    "job_fixed_rows": "imports/{job}/rejects says of each row whether it is corrected",
    "history_json": "history has the same by pages",
    # Pictures of what other operations have as figures.
    "job_rates": "a curve of the chunks, which imports/{job}/chunks lists",
    "job_timings": "a chart of the chunks, which imports/{job}/chunks lists",
    "job_problem_chunks": "imports/{job}/chunks?problems=true lists them",
    "history_chart": "a chart of what history has",
    "lab_live": "labs/{id} shows the same",
    "lab_charts": "charts of what labs/{id} has",
    # About the API itself.
    "api_docs": "the page about the API",
    "api_schema": "the description of the API",
}
DONE = {does.page for methods in API.values() for does in methods.values()}


def test_each_page_has_an_operation_or_a_reason_for_none():
    pages = {each.name for each in urls.pages}
    assert pages - DONE - set(LEFT_OUT) == set()
    assert set(LEFT_OUT) - (pages - DONE) == set()


def test_each_operation_stands_for_a_page():
    assert {each.name for each in urls.pages} >= DONE
