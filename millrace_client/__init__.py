"""The client of Millrace's API, in pure Python: uploads that resume, imports, and problems as exceptions.

`pip install millrace-client` installs it alone; `millrace --server` is made of it. docs/clients.md has examples.
"""

from millrace_client.api import Millrace, is_over
from millrace_client.problems import NotLoaded, Problem, ServerProblem, ServerUnreachable, SourceChanged, SourceProblem
from millrace_client.version import VERSION as __version__

__all__ = [
    "Millrace",
    "NotLoaded",
    "Problem",
    "ServerProblem",
    "ServerUnreachable",
    "SourceChanged",
    "SourceProblem",
    "__version__",
    "is_over",
]
