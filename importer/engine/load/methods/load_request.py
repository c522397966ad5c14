"""The values with which a method sends a feed."""

from dataclasses import dataclass

from importer.engine.plan.server_file import ServerFile
from importer.engine.source.dialect import Dialect


@dataclass(frozen=True)
class LoadRequest:
    """What a method needs to run its statements.

    Records have `width` fields, `numbers` among them (ImportPlan.numbers); `rows` go into an INSERT, None for the
    methods that send files; a server's pipes lie in `folder`, and it reads `file` itself.
    """

    dialect: Dialect
    width: int
    numbers: tuple[str, ...] = ()
    rows: int | None = None
    folder: str = ""
    file: ServerFile | None = None
