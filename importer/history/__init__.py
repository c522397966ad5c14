"""The history of imports: the facts stored of each import, and queries that compare settings with timings.

importer.jobs writes the record when a job ends (jobs/record.py). In reading order: `facts`, the registry of stored
facts; `collect`, the facts of one job; `query`, a query as a value; `read`, reading facts from the database; `search`,
the imports that a query finds; `charts`; `chunks`, the chunks of one import; `compare`, two or more imports;
`setting_effects`, what settings have gained; `regressions` and `slowdown_test`, imports that were slower than their
peers; `export`; `formatting`.
"""
