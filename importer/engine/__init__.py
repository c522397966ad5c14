"""The engine: plain Python that knows no Django, no HTTP and no Celery.

The way of the data, which is also the reading order:
profile -> table -> mapping -> plan -> scanner -> connection -> feed -> load (with methods, ledger) -> verify
What load does about rows that do not go in: review -> sender -> isolate (with answer, warnings) -> rejects -> explain
(with reasons, duplicates) -> parts
"""
