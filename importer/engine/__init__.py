"""The engine: plain Python that knows no Django, no HTTP and no Celery.

Its packages in the order of the data, which is also the reading order. Each imports only packages above it
(tests/test_layers.py):

- errors, units, stored: problems; byte units; dataclasses as JSON
- native: the optional C library for the byte work
- mysql: the server connection: sessions, quoting, variables, error messages, the LOAD DATA LOCAL handler
- source: the CSV file: dialect, encoding, compression, records, profile, chunks
- schema: the target table: columns, column types, indexes, foreign keys, dependencies, new tables
- mapping: field to column: transforms, date formats, SQL expressions, suggestions, preview
- reading: everything decided about a file, how sure it is, and the questions that stop an import
- target: changes on the server and their reversal: staging, table backup, temporary changes, scratch tables
- validation: finds values that the server would change silently
- sorting: external sort by primary key
- feed: the bytes of a chunk on their way to the server
- plan: values: options, the import plan, what is read back
- load: loads a chunk exactly once: loader, ledger, verification; methods, rejects, read-back
- planner: decides the plan, with a reason for each decision
- preflight: checks a server and account before the first import
- tuning: the lab's arithmetic: grids, samples, budgets, ranking, recommendation
"""

import os

# OpenBLAS starts a thread for each processor, a tenth of a second of processor time each (server-behaviour.md, Speed).
# The engine uses nothing of numpy that calls OpenBLAS.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
