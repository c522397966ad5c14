"""The causes, each declared once. CAUSES has them in the order in which they are tried: the surest first."""

from importer.engine.mysql.diagnosis.cause import Cause
from importer.engine.mysql.diagnosis.causes import locks

CAUSES: tuple[Cause, ...] = (*locks.CAUSES,)
