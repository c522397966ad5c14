"""The statements of an SQL dump, and the rows of its INSERT and REPLACE statements. None is executed."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from importer.engine.errors import RecordUnreadable, SourceProblem
from importer.engine.source.encodings import UTF8, errors_of_mysql, source_bytes
from importer.engine.source.formats.contents import Contents
from importer.engine.source.formats.copy_records import LINE_END, NULL, TAB, RowRefused
from importer.engine.source.formats.sql.other_servers import refuse_other_servers
from importer.engine.source.formats.sql.session import zone_of
from importer.engine.source.formats.sql.tokens import NAME, SqlText, name_of
from importer.engine.source.formats.sql.values import (
    FieldKind,
    Form,
    Literal,
    copied,
    depends_on_zone,
    literal,
    plain_literal,
    row_pattern,
    value_pattern,
)
from importer.engine.source.records.refused import NO_LITERAL, WRONG_COUNT
from importer.engine.units import count_of

COMPLETED = b"Dump completed"
_KEYWORD = re.compile(rb"[A-Za-z]+|/\*!|.", re.DOTALL)
_TABLE_NAME = rb"(?:(?P<database>" + NAME + rb")\s*+\.\s*+)?(?P<table>" + NAME + rb")"
_USE = re.compile(rb"USE\s++(?P<database>" + NAME + rb")", re.IGNORECASE)
_INSERT = re.compile(
    rb"(?:INSERT|REPLACE)\s++(?:(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE)\s++|(?!))*+(?:INTO\s++)?"
    + _TABLE_NAME
    + rb"\s*+(?:\((?P<columns>\s*+(?:"
    + NAME
    + rb")\s*+(?:,\s*+(?:"
    + NAME
    + rb")\s*+|(?!))*+)\)\s*+)?VALUES?\s*+(?=\()",
    re.IGNORECASE,
)
_CREATE = re.compile(
    rb"CREATE\s++(?:TEMPORARY\s++)?TABLE\s++(?:IF\s++NOT\s++EXISTS\s++)?" + _TABLE_NAME + rb"\s*+\(", re.IGNORECASE
)
# A type with its length and signs; those of ENUM and SET are not needed.
_COLUMN = re.compile(
    rb"\s*+(?P<name>"
    + NAME
    + rb")\s++(?P<type>[A-Za-z]++(?:\s*+\([0-9, ]++\)|(?!))?+(?:\s++(?:UNSIGNED|ZEROFILL)\b|(?!))*+)",
    re.IGNORECASE,
)
_NO_COLUMN = re.compile(
    rb"\s*+(?:PRIMARY|UNIQUE|KEY|INDEX|FULLTEXT|SPATIAL|CONSTRAINT|FOREIGN|CHECK|PERIOD)\b", re.IGNORECASE
)
# Without one of a part of a text, which is no key of a new table by its columns' names.
_PRIMARY_KEY = (
    rb"(?:CONSTRAINT\b(?:\s++(?:" + NAME + rb"))?\s*+)?PRIMARY\s++KEY\s*+(?:USING\s++[A-Za-z]++\s*+)?"
    rb"\((?P<key>\s*+(?:" + NAME + rb")\s*+(?:,\s*+(?:" + NAME + rb")\s*+|(?!))*+)\)"
)
_KEY = re.compile(rb"\s*+" + _PRIMARY_KEY, re.IGNORECASE)
# phpMyAdmin writes the keys below the rows.
_ADDED_KEY = re.compile(rb"ALTER\s++TABLE\s++" + _TABLE_NAME + rb"\s++ADD\s++" + _PRIMARY_KEY, re.IGNORECASE)
_KEY_OF_COLUMN = re.compile(
    rb"(?:[^'\"`P]++|'[^']*+'|\"[^\"]*+\"|`[^`]*+`|P(?!RIMARY\s)|(?!))*+PRIMARY\s++KEY\b", re.IGNORECASE
)
# The rest of a column's or key's definition, up to the comma behind it or the end of the list.
_DEFINITION = re.compile(
    rb"(?:[^,()'\"`]++|'(?:[^'\\]|\\.|'')*+'|\"(?:[^\"\\]|\\.|\"\")*+\"|`[^`]*+`"
    rb"|\((?:[^()']++|'(?:[^'\\]|\\.|'')*+'|\([^()]*+\)|(?!))*+\)|(?!))*+",
    re.DOTALL,
)
_EXPRESSION = re.compile(_DEFINITION.pattern + rb"(?=\s*+[,)])", re.DOTALL)
_NAMES = re.compile(rb"(?P<name>" + NAME + rb")\s*+,?\s*+")
# The first and the last comment of a dump that mysqldump or mariadb-dump writes; --skip-comments leaves out both
# (manual, mysqldump, --comments and --dump-date).
_ENDS = re.compile(rb"^-- (?:(?P<first>(?:MySQL|MariaDB) dump )|" + COMPLETED + rb")", re.MULTILINE)
_COMMA, _OPEN, _CLOSE = re.compile(rb"\s*+,\s*+"), re.compile(rb"\(\s*+"), re.compile(rb"\s*+\)")
_ENDS_VALUE = re.compile(rb"\s*+[,)]")


@dataclass(frozen=True)
class Insert:
    """The head of an INSERT: its database, "" if the dump names none, its table, and the columns that it names.

    `zone`: the time zone of its times, "" if the dump has set none.
    """

    database: str
    table: str
    columns: tuple[str, ...]
    zone: str = ""


class Dump:
    """The statements of a dump. `created`: for each table that it creates, each column's type; `keys`: its primary key.

    `open`: the first comment of a dump has been read, and not the last one that the same program writes.
    """

    def __init__(self, contents: Contents) -> None:
        self.text = SqlText(contents.text(errors_of_mysql(contents.encoding)))
        self.created: dict[str, dict[str, str]] = {}
        self.keys: dict[str, tuple[str, ...]] = {}
        self.others: Counter[str] = Counter()
        self.open = False
        self._database = ""
        self._first: dict[str, Insert] = {}

    def inserts(self, most: float = float("inf")) -> Iterator[Insert]:
        """Each INSERT up to `most` bytes, with its rows as the next token: the caller reads or skips them."""
        text = self.text
        while text.offset < most:
            gap = text.take_gap()
            for each in _ENDS.finditer(gap):
                self.open = each["first"] is not None
            if not text.next():
                return
            found = text.match(_KEYWORD)
            word = found[0].upper().decode(errors="replace") if found else ""
            refuse_other_servers(text, gap, word)
            if word in ("INSERT", "REPLACE"):
                yield self._insert()
                continue
            if word in ("SET", "/*!"):
                text.read_settings()
            if word == "/*!" and text.skip_executed_comment():
                continue
            if word == "USE" and (used := text.match(_USE)):
                self._database = name_of(used["database"])
            if word == "CREATE" and (head := text.match(_CREATE)):
                self._read_columns(head)
            if word == "ALTER" and (added := text.match(_ADDED_KEY)):
                self.keys[name_of(added["table"])] = _names_in(added["key"])
            if word.isalpha() and word not in ("SET", "USE", "LOCK", "UNLOCK", "COMMIT", "START", "BEGIN"):
                self.others[word] += 1
            text.skip_statement()

    def _insert(self) -> Insert:
        head = self.text.match(_INSERT)
        if head is None:
            raise self.text.problem(
                f"This is no INSERT of rows: {self.text.shown()}",
                "Only INSERT INTO table VALUES (...), (...) can be read. Run the dump with the mysql client.",
            )
        names = _names_in(head["columns"] or b"")
        self.text.take(head)
        database = name_of(head["database"]) if head["database"] else self._database
        return Insert(database, name_of(head["table"]), names, zone_of(self.text.zone))

    def require_like_first(self, insert: Insert) -> None:
        """Raise SourceProblem if the first INSERT into a table of this name was in another database or time zone."""
        first = self._first.setdefault(insert.table, insert)
        if first.database != insert.database:
            raise self.text.problem(
                f"The dump has rows for {insert.table} in two databases: {first.database or 'one without a name'} and"
                f" {insert.database or 'one without a name'}.",
                "Write a dump of each database, and import them one after the other.",
            )
        if first.zone != insert.zone and self.may_have_moments(insert.table):
            raise self.text.problem(
                f"The dump has rows for {insert.table} in two time zones: {first.zone or 'that of the server'} and"
                f" {insert.zone or 'that of the server'}.",
                "Divide the dump where it sets TIME_ZONE, and import the parts one after the other.",
            )

    def may_have_moments(self, table: str) -> bool:
        """Whether the table may have a TIMESTAMP, whose values depend on the time zone: by its CREATE TABLE."""
        created = self.created.get(table)
        return created is None or any(map(depends_on_zone, created.values()))

    def _read_columns(self, head: re.Match[bytes]) -> None:
        """Read the names and types of a new table's columns, and its primary key."""
        text, table = self.text, name_of(head["table"])
        text.take(head)
        columns: dict[str, str] = {}
        while True:
            column = None if text.peek(_NO_COLUMN) else text.peek(_COLUMN)
            if column:
                columns[name_of(column["name"])] = column["type"].decode().lower()
            if definition := text.match(_DEFINITION):
                if key := _KEY.match(definition[0]):
                    self.keys[table] = _names_in(key["key"])
                elif column and _KEY_OF_COLUMN.match(definition[0]):
                    self.keys[table] = (name_of(column["name"]),)
                text.take(definition)
            comma = text.peek(_COMMA)
            if not comma:
                break
            text.take(comma)
        self.created[table] = columns

    def width(self) -> int:
        """The number of values in the row that is the next token, which is taken."""
        count, text = 0, self.text
        if opened := text.peek(_OPEN):
            text.take(opened)
        while True:
            text.take_gap()
            _next_value(text)
            count += 1
            if not (comma := text.peek(_COMMA)):
                break
            text.take(comma)
        return count


class Rows:
    """The rows of INSERTs into one table with these fields. `kinds`: what each field has; plain values by default.

    `encoding`: that of the dump, whose text is in UTF-8 here.
    """

    def __init__(
        self, text: SqlText, fields: Sequence[str], kinds: Sequence[FieldKind] = (), encoding: str = UTF8
    ) -> None:
        self._text, self._fields, self._encoding = text, tuple(fields), encoding
        self._special = {at: kind for at, kind in enumerate(kinds) if kind is not FieldKind.PLAIN}

    def records(self, insert: Insert) -> Iterator[tuple[bytes | RowRefused, int, int]]:
        """The record, the line and the byte of each row of an INSERT; its statement is taken to the end.

        A row with an expression, or with too many or too few values, is a RowRefused.
        """
        order, width = self._order(insert), self._width(insert)
        special = {order[at] if order else at: kind for at, kind in self._special.items()}
        special.pop(-1, None)
        # No token of the quick pattern is written as digits of bytes, so numbers are read as they are.
        quick_special = {at: kind for at, kind in special.items() if kind is not FieldKind.NUMBER}
        strings = self._text.strings
        pattern = row_pattern(width, strings)
        for line, offset in self._each_row():
            if quick := self._text.match_now(pattern):
                tokens = quick.groups()
                values = [copied(token, strings) for token in tokens]
                for at, kind in quick_special.items():
                    values[at] = self._written(kind, plain_literal(tokens[at], strings), line)
                self._text.take(quick)
            else:
                literals = self._literals()
                kinds = (special.get(at, FieldKind.PLAIN) for at in range(len(literals)))
                values = [self._written(*pair, line) for pair in zip(kinds, literals, strict=True)]
                if refused := self._refused(literals, width, order, line):
                    refused.values = _ordered(values, order) if order else values
                    yield refused, line, offset
                    continue
            if order:
                values = _ordered(values, order)
            yield TAB.join(values) + LINE_END, line, offset

    def _written(self, kind: FieldKind, found: Literal, line: int) -> bytes:
        """The value as it stands in the copy. Raises SourceProblem for a text whose bytes in the dump are not known."""
        value = found.value
        if value and kind.is_bytes and found.form is Form.TEXT:
            value = source_bytes(value, self._encoding)
            if value is None:
                raise SourceProblem(
                    f"Bytes stand in quotes, and in a text in {self._encoding} not every byte can be told.",
                    f"line {line:,}",
                    "Write the dump again with --hex-blob, or with --default-character-set=utf8mb4.",
                )
        return kind.written(value, found.form)

    def _refused(self, literals: Sequence[Literal], width: int, order: Sequence[int], line: int) -> RowRefused | None:
        """Why a row that begins on this line cannot be read; None if it can."""
        where = f"line {line:,}"
        if len(literals) != width:
            values = count_of(len(literals), "value")
            what = f"A row has {values}, and {width:,} are expected."
            return RowRefused(WRONG_COUNT, RecordUnreadable(what, where), values.encode())
        for at, each in enumerate(literals):
            if each.expression:
                shown = each.expression.decode(errors="replace").split("\n")[0][:40]
                problem = RecordUnreadable(
                    f"This is no plain value: {shown}",
                    where,
                    "Nothing is executed, so functions and expressions cannot be read. Write the value itself.",
                )
                field = order.index(at) + 1 if order else at + 1
                return RowRefused(NO_LITERAL, problem, each.expression, field)
        return None

    def kinds(self, insert: Insert) -> Iterator[list[FieldKind]]:
        """For each row of an INSERT the kind of each of its values."""
        order, width = self._order(insert), self._width(insert)
        for _ in self._each_row():
            found = [each.kind for each in self._literals()]
            if len(found) == width:
                yield [found[at] if at >= 0 else FieldKind.PLAIN for at in order] if order else found

    def _width(self, insert: Insert) -> int:
        return len(insert.columns) or len(self._fields)

    def _each_row(self) -> Iterator[tuple[int, int]]:
        """The line and the byte of each row, which the caller takes."""
        text = self._text
        while True:
            yield text.line, text.offset
            text.take_gap()
            if text.next() != b",":
                break
            text.take_byte()
            text.take_gap()
        if text.next() == b"(":
            raise text.problem("There is no comma between two rows.", "Write or copy the dump again.")
        # A semicolon, perhaps after ON DUPLICATE KEY UPDATE.
        text.end_insert()

    def _order(self, insert: Insert) -> list[int]:
        """For each field the position of its value in a row, -1 for none; [] if the positions are the same."""
        if not insert.columns or insert.columns == self._fields:
            return []
        if unknown := [name for name in insert.columns if name not in self._fields]:
            raise self._text.problem(
                f"This INSERT fills {unknown[0]}, and those in the first part of the file do not.",
                "Divide the file: one for each list of columns.",
            )
        return [insert.columns.index(name) if name in insert.columns else -1 for name in self._fields]

    def _literals(self) -> list[Literal]:
        """The values of a row one by one, as no fast pattern knows them."""
        text = self._text
        found: list[Literal] = []
        opened = text.peek(_OPEN)
        if not opened:
            raise text.problem(f"A row is expected, and this follows: {text.shown()}", "Write or copy the dump again.")
        text.take(opened)
        while True:
            text.take_gap()
            found.append(_next_value(text))
            if comma := text.peek(_COMMA):
                text.take(comma)
                continue
            closed = text.peek(_CLOSE)
            if not closed:
                raise _no_value(text)
            text.take(closed)
            return found


def _names_in(listed: bytes) -> tuple[str, ...]:
    return tuple(name_of(each["name"]) for each in _NAMES.finditer(listed))


def _next_value(text: SqlText) -> Literal:
    """The next value of a row; an expression is taken up to the comma or the bracket behind it."""
    begun = b""
    if value := text.match(value_pattern(text.strings)):
        text.take(value)
        text.take_gap()
        if text.peek(_ENDS_VALUE):
            return literal(value, text.strings)
        begun = value[0]
    expression = text.match(_EXPRESSION)
    if not expression or not (begun or expression[0].strip()):
        raise _no_value(text)
    text.take(expression)
    return Literal(None, Form.TEXT, expression=(begun + expression[0]).strip())


def _no_value(text: SqlText) -> SourceProblem:
    if not text.next():
        return text.problem("The file ends in the middle of a row.", "Write or copy the dump again.")
    return text.problem(
        f"This is no plain value: {text.shown()}",
        "Nothing is executed, so functions and expressions cannot be read. Write the value itself.",
    )


def _ordered(values: Sequence[bytes], order: Sequence[int]) -> list[bytes]:
    """The values of a row in the order of the fields, NULL for those that it does not have."""
    return [values[at] if 0 <= at < len(values) else NULL for at in order]
