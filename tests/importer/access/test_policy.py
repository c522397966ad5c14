"""What a list shows is what the policy allows for each of its things."""

import pytest

from importer.access import people
from importer.access.policy import level, visible
from importer.models import ImportJob, Level
from tests.dashboard.job_data import make_job
from tests.people import stranger

TABLES = ("orders_1", "ORDERS_HR", "orders_", "ORDERS_", "ordersX1", "orders%", "Orders_1")
# A limit has its first dot behind the schema.
OTHERS = (("osm.eu", "orders_1"), ("osm.orders_1", "x"), ("osm", "a.b"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "limit", ["osm.orders_*", "osm.*", "osm.orders_1", "osm.orders_", "OSM.orders_*", "osm.orders%*"]
)
def test_a_list_has_the_tables_of_a_limited_grant_and_no_other(limit):
    """Databases compare names in other ways than Python: some ignore case, and LIKE has wildcards."""
    jobs = [make_job(table=table, chunks=1) for table in TABLES]
    for schema, table in OTHERS:
        other = make_job(table=table, chunks=1)
        ImportJob.objects.filter(pk=other.pk).update(schema_name=schema)
        jobs.append(ImportJob.objects.get(pk=other.pk))
    ann = stranger("ann")
    people.grant(ann, "target", Level.LOOK, jobs[0].target, [limit])
    allowed = {job for job in jobs if level(ann, job)}
    assert set(visible(ann, ImportJob.objects.all())) == allowed
    assert {job.schema_name for job in allowed} <= {limit.partition(".")[0]}
