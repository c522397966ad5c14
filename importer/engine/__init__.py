"""The engine: plain Python that knows no Django, no HTTP and no Celery.

In the order of the data, which is also the reading order:

- a file's bytes and records: encodings, packed, plain; dialect, walk, boundaries, stray, blocks, records, large_values,
  flaws
- what is in a file: file_kinds, sniff, sample, profile, types
- where it goes: table, surroundings, indexes, mapping, transforms, expressions, dates; suggestions, misfits,
  doubts; new_table
- what will be done: options (variables, session, server_wide), modes, server, distance, past, check, exactness, plan,
  planner; sorting (sort_keys, sort_sample, sort_runs, places); scanner
- loading a chunk: connection, ledger, locking, feed (rewrite, numbering), outgoing, methods, load; staging, no_rollback
- rows that do not go in: review, sender, isolate (answer, warnings), rejects, reasons, duplicates, explain, parts
- what is changed on the target meanwhile, and put back: arrangement, server_variables
- the end: readback (same_value), finish, kept, verify
- what takes too long in Python: native
- settings tried on a sample: lab
"""
