"""Why an import waits or is slow: what the server shows of itself, and the causes that fit, each with its evidence.

snapshot: one look at a server (sessions, locks, counters), the same for all imports into it. evidence: snapshot and
what the application knows about one import. causes/: each cause, declared once. diagnose: the causes that fit.
Nothing here changes the server; a statement that would help is only shown.
"""
