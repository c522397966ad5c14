"""The digest of rows as the file has them, computed by native/src/digests/row_digests.c."""

import ctypes
from dataclasses import dataclass
from typing import NamedTuple

from importer.engine.load.readback.canonical_forms import CanonicalForm, canonical_form
from importer.engine.load.readback.row_hash import NULL_CRC, factor
from importer.engine.native import loader
from importer.engine.plan.readback import ComparedColumn, Readback
from importer.engine.source.arrays import Lengths, Offsets, np
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.boundary.delimiter_marks import DelimiterMarks
from importer.engine.validation.fast_path import marks_of

# Bytes that the C code may read behind the data.
PADDING = bytes(16)


class Digest(NamedTuple):
    """The number of rows and the sum of their hashes."""

    rows: int
    sum: int


class _Field(ctypes.Structure):
    """row_digests.c's `struct digest_field`."""

    _fields_ = (
        ("form", ctypes.c_uint32),
        ("scale", ctypes.c_uint32),
        ("factor", ctypes.c_uint32),
        ("null_count", ctypes.c_uint32),
        ("nulls", ctypes.c_char_p),
    )


class _Rule(ctypes.Structure):
    """row_digests.c's `struct digest_rule`."""

    _fields_ = (
        ("marks", DelimiterMarks),
        ("count", ctypes.c_size_t),
        ("null_crc", ctypes.c_uint32),
        ("fields", ctypes.POINTER(_Field)),
    )


class _Digest(ctypes.Structure):
    """row_digests.c's `struct digest`."""

    _fields_ = (("rows", ctypes.c_uint64), ("sum", ctypes.c_uint64))


# The data, its size, the rule, and the scratch.
_RECORDS = (ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(_Rule), ctypes.c_char_p)
_ROWS = (*_RECORDS, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)


@dataclass
class FileDigests:
    """Computes the digests of one import's rows, over the columns whose form is known.

    `forms` has each such column with its form, in the order in which they are hashed.
    """

    forms: tuple[tuple[ComparedColumn, CanonicalForm], ...]
    rule: _Rule
    fields: ctypes.Array[_Field]
    _scratch: ctypes.Array[ctypes.c_char] | None = None

    @classmethod
    def of(cls, readback: Readback, dialect: Dialect, count: int) -> "FileDigests | None":
        """The digests of files in this dialect with `count` fields, in UTF-8.

        None if there are none (why_no_digests()), and if no column's form is known.
        """
        marks, forms = marks_of(dialect), forms_of(readback)
        if why_no_digests(dialect) or not marks or not forms:
            return None
        # A field that goes into no column stays zero: Form.SKIPPED.
        fields = (_Field * count)()
        for number, (compared, form) in enumerate(forms):
            fields[compared.field] = _field(compared, form, number)
        return cls(forms, _Rule(marks, count, NULL_CRC, fields), fields)

    def digest(self, data: bytes, size: int) -> Digest | None:
        """The digest of the records data[:size]; PADDING follows them. None if a value's form is not known."""
        call = loader.function("digest_rows", ctypes.c_size_t, *_RECORDS, ctypes.POINTER(_Digest))
        total = _Digest()
        if call(data, size, self.rule, self._scratch_of(size), total) != size:
            return None
        return Digest(total.rows, total.sum)

    def hashes(self, data: bytes, size: int, rows: int, key: int) -> "tuple[Offsets, Lengths] | None":
        """The keys, integers in the field `key` (from 0), and the hashes of the `rows` records data[:size].

        PADDING follows them. None if the form of a key or a value is not known, or there is another number of records.
        """
        call = loader.function("hash_rows", ctypes.c_size_t, *_ROWS)
        keys, hashes = np.empty(rows, np.int64), np.empty(rows, np.uint32)
        found = call(data, size, self.rule, self._scratch_of(size), key, rows, keys.ctypes.data, hashes.ctypes.data)
        return (keys, hashes) if found == rows else None

    def _scratch_of(self, size: int) -> "ctypes.Array[ctypes.c_char]":
        if self._scratch is None or len(self._scratch) < size + len(PADDING):
            self._scratch = ctypes.create_string_buffer(size + len(PADDING))
        return self._scratch


def forms_of(readback: Readback) -> tuple[tuple[ComparedColumn, CanonicalForm], ...]:
    """The columns whose form is known, with it, in the order in which they are hashed."""
    return tuple((each, form) for each in readback.readings if (form := canonical_form(each)))


def why_no_digests(dialect: Dialect) -> str:
    """Why no digest of a file in this dialect can be computed; "" if it can."""
    if not loader.library():
        return "the C library that computes digests is not compiled here"
    if dialect.raw_fields:
        return "columns of bytes take bytes that are not in the file's encoding"
    if dialect.trailing_delimiter or not marks_of(dialect):
        return "the file's delimiter, line ends or escapes are not those that a digest can be computed of"
    return ""


def _field(compared: ComparedColumn, form: CanonicalForm, number: int) -> _Field:
    markers = sorted(compared.null_bytes)
    words = b"".join(bytes([len(marker)]) + marker for marker in markers)
    return _Field(form.form, form.scale, factor(number), len(markers), words)
