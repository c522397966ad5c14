"""What is kept of an import for good: flat facts, so that old ones stay readable when new ones come."""

from django.db import models

from importer.models.job import ImportJob


class JobRecord(models.Model):
    """An import that has ended, as it ended last, written by importer.jobs. Its facts are in importer.history.facts."""

    job = models.OneToOneField(ImportJob, models.CASCADE, primary_key=True, related_name="record")
    # The planner's choices in words (importer.engine.plan.Reason as JSON), as they stood at the end.
    reasons = models.JSONField(default=list)
    # What had changed where it was slower than its like (importer.history.regressions.Changed as JSON).
    changed = models.JSONField(default=list)
    # The timings of its chunks where these are too many to be read again (importer.history.chunk_timings as JSON).
    chunk_timings = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"record of import {self.job_id}"


class JobFact(models.Model):
    """One fact of a record: a number, or a text where that is none. The key keeps the values of one fact together.

    A row for each, because any fact is a column of the history, which sorts, filters and draws it: with 10,000 records
    of 120 facts, reading three of them takes 18 ms on SQLite, 29 on MariaDB and 50 on MySQL. One JSON for each record
    took 100, 230 and 35 ms to draw the same, 88, 243 and 34 to filter and sort a page (MariaDB looks through the whole
    text for each value), and 0.5 to 1.2 seconds to be read into memory. Real columns would need a migration for each
    new setting.
    """

    LONGEST_TEXT = 255

    pk = models.CompositePrimaryKey("name", "record_id")
    name = models.CharField(max_length=64)
    record = models.ForeignKey(JobRecord, models.CASCADE, related_name="facts")
    number = models.FloatField(null=True)
    text = models.CharField(max_length=LONGEST_TEXT)

    class Meta:
        # SQLite keeps rows in the order they came: without it, a column is gathered from all over the table, in three
        # times the processor time.
        indexes = [models.Index(fields=["name", "record", "number", "text"], name="column_of_facts")]

    def __str__(self) -> str:
        return f"{self.name} of import {self.record_id}"
