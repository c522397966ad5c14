"""The engine: plain Python that knows no Django, no HTTP and no Celery.

In the order of the data, which is also the reading order:

- dialect: how records and fields are told apart; files: what is in a file (encoding, packing, header, types); records:
  where its records begin and end
- where it goes: table, surroundings, indexes, mapping, transforms, expressions, dates; suggestions, misfits,
  doubts; new_table
- what will be done: options (variables, session, server_wide), modes, server, distance, past, check, exactness, plan,
  planner; sorting; scanner
- loading a chunk: connection, ledger, locking, feed (rewriter, row_numbers, hex_decoder), infile_buffer, methods, load
  (together); staging, no_rollback
- rows that do not go in: rejects
- what is changed on the target meanwhile, and put back: arrangement, server_variables
- the end: readback, finish, kept, verify
- what takes too long in Python: native
- settings tried on a sample: lab; published measurements, repeated with rows from a seed: experiments, workloads
"""

import os

# Nothing is used of numpy that OpenBLAS does, which would start a thread for each processor: a tenth of a second of its
# time each (server-behaviour.md, Speed).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
