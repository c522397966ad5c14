"""The engine: plain Python that knows no Django, no HTTP and no Celery.

The way of the data, which is also the reading order:
profile -> table -> mapping -> plan -> scanner -> connection -> feed -> load (with methods, ledger) -> verify
"""
