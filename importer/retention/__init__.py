"""How long things are kept, and their deletion (docs/retention.md).

`policies` declares what is deleted after how many days; `needed`, why something stays; `files`, `ended_jobs`, `ledgers`
and `rows` delete; `run` does so in bounded steps, called by the task `retain`.
"""
