"""Notes on the header and the records of a file's sample, for the report."""

from collections import Counter
from collections.abc import Sequence

from importer.engine.source.profile.sample import SampleRecord
from importer.engine.units import count_of


def header_notes(header: Sequence[str]) -> tuple[str, ...]:
    """What is noted of the names: one is missing, or is there twice."""
    notes = []
    if empty := [number for number, name in enumerate(header, start=1) if not name.strip()]:
        notes.append(f"Field {empty[0]} has no name in the header.")
    counts = Counter(name.strip().lower() for name in header)
    if doubled := sorted(name for name, times in counts.items() if name and times > 1):
        notes.append(f"The header has {doubled[0]!r} more than once; the first one counts.")
    return tuple(notes)


def width_notes(header: Sequence[str], data: Sequence[SampleRecord]) -> tuple[str, ...]:
    """What is noted of records with another number of fields than the header."""
    odd = [record for record in data if len(record.values) != len(header)]
    if not odd:
        return ()
    example = f"the one on line {odd[0].line} has {len(odd[0].values)}"
    return (
        f"{count_of(len(odd), 'record')} of the sample {'does' if len(odd) == 1 else 'do'} not have"
        f" {count_of(len(header), 'field')}: {example}.",
    )
