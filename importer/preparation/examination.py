"""The examination of a whole file for the page of a new import: what is examined, its beginning, and what it has found.

A worker does it (importer/preparation/examine.py), also while the file is still being uploaded.
"""

import hashlib
import json
from dataclasses import dataclass

from django.db.models import F

from importer import queue
from importer.engine.source.chunks.joined import JoinedFile
from importer.engine.source.chunks.scanner import Position
from importer.engine.source.decoding import needs_copy
from importer.engine.stored import from_json, to_json
from importer.engine.validation import ValidationRules
from importer.lease import Lease
from importer.models import Examination, SourceFile
from importer.preparation.prepare import PreparedImport
from importer.preparation.row_problems import SCANNED_BYTES, RowProblems
from importer.queue import Message

LEASE = Lease(Examination)


@dataclass(frozen=True)
class Basis:
    """What is examined: the rules, the column of each field, where the data begins, as Profile has it.

    `files`: the files of a source of several.
    """

    rules: ValidationRules
    columns: tuple[str, ...]
    data_offset: int
    data_line: int
    files: tuple[JoinedFile, ...] = ()

    @property
    def begin(self) -> Position:
        return Position(self.data_offset, self.data_line)


def begin(prepared: PreparedImport) -> None:
    """Let a worker examine the file by the rules of the plan, unless that is done or under way."""
    basis = _basis(prepared)
    if basis is None:
        stop(prepared.source)
        return
    values = to_json(basis)
    digest = _digest(values)
    made, new = Examination.objects.get_or_create(
        source=prepared.source,
        defaults={"basis_json": values, "digest": digest, "position_json": to_json(basis.begin)},
    )
    if not new and made.digest != digest:
        # The attempt tells a worker that what it has in hand is no longer wanted.
        Examination.objects.filter(pk=made.pk).update(
            basis_json=values,
            digest=digest,
            position_json=to_json(basis.begin),
            found_json={},
            done=False,
            lease=None,
            attempt=F("attempt") + 1,
        )
    wake(prepared.source)


def wake(source: SourceFile) -> None:
    """Send the message for the examination of the file, if one is to be done that no worker has."""
    if Examination.objects.filter(LEASE.free(), source=source, done=False).exists():
        queue.send([Message("examine", source.pk)])


def stop(source: SourceFile) -> None:
    """End the examination of the file, and forget what it has found."""
    Examination.objects.filter(source=source).delete()


def findings(prepared: PreparedImport) -> RowProblems | None:
    """What the examination of the file has found so far; None if there is none of this mapping."""
    basis = _basis(prepared)
    made = Examination.objects.filter(source=prepared.source).first() if basis else None
    if made is None or basis is None or made.digest != _digest(to_json(basis)):
        return None
    return found_so_far(made)


def goes_on(source: SourceFile) -> bool:
    """Whether the file is not examined to its end yet."""
    return Examination.objects.filter(source=source, done=False).exists()


def found_so_far(made: Examination) -> RowProblems:
    return from_json(RowProblems, made.found_json)


def _basis(prepared: PreparedImport) -> Basis | None:
    """What is to be examined; None for a file that the page examines whole, or that a worker cannot read as it is."""
    profile, source, rules = prepared.profile, prepared.source, prepared.plan.exactness
    # The page looks at one file.
    small = profile.size - profile.data_offset <= SCANNED_BYTES and not prepared.files
    packed = needs_copy(profile.packing, profile.dialect) or any(each.order for each in prepared.files)
    # The types of a new table are widened to what the file has.
    if rules is None or small or packed or prepared.new_table or not (source.owned or source.connection_id is None):
        return None
    columns = tuple(each.column.lower() for each in prepared.mapping)
    return Basis(rules, columns, profile.data_offset, profile.data_line, prepared.files)


def _digest(values: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()
