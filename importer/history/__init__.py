"""What is kept of every import, and how it is asked for: settings against timings.

importer.jobs writes the record when a job ends (jobs/record.py). In the order to read: `facts`, the registry of all
that is kept; `facts_of_job`, what a job tells of them; `query`, what is asked, as values; `columns`, how it is read;
`finding`, which imports are meant; `charts`; `chunk_timings`; `comparing`; `difference`, what settings have gained;
`watch` and `slower`, which were slower than their like; `export`, `words`; `seeding`, made-up ones to measure with.
"""
