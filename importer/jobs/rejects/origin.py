"""Generated columns of rejected rows that are loaded again: their values come from the place where the rows stood."""

from collections.abc import Collection, Iterable, Sequence

from importer.engine.mapping.columns import GeneratedColumn
from importer.models import ImportJob

# Sources whose values are others in a file of rejected rows.
OF_PLACE = ("file", "row", "line")


def files_of(job: ImportJob) -> set[str]:
    """The names that rows of the job have as their file."""
    return {*job.file_names} or {job.source.name}


def with_origin(
    fillings: Iterable[GeneratedColumn], files: Collection[str], lines: Collection[int] = ()
) -> tuple[GeneratedColumn, ...]:
    """The generated columns, with the file or line that all of the rows have in common as a constant."""
    known = {"file": [*files], "line": [str(each) for each in lines]}
    return tuple(
        GeneratedColumn(each.column, "text", common[0]) if len(common := known.get(each.source, [])) == 1 else each
        for each in fillings
    )


def columns_of_place(fillings: Sequence[GeneratedColumn]) -> list[str]:
    """The columns that would get file, row or line of the file of rejected rows."""
    return [each.column for each in fillings if each.source in OF_PLACE]
