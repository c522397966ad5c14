"""One INSERT a row: what programs do that know nothing else. For comparison, with samples.

Its chunks are of one row (options.commit_rows), so that each row is a transaction.
"""

from importer.engine.load.methods.inserts import insert

ROWS = 1
load = insert.load
