"""The causes, each declared once. CAUSES has them in the order in which they are tried: the surest first."""

from importer.engine.mysql.diagnosis.cause import Cause
from importer.engine.mysql.diagnosis.causes import application, locks, server, speed

CAUSES: tuple[Cause, ...] = (*server.CAUSES, *locks.CAUSES, *application.CAUSES, *speed.CAUSES)
# Named only if none of CAUSES is.
LAST: tuple[Cause, ...] = (*server.LAST, *speed.LAST)
