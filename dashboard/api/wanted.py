"""The body of a request for an import: file, target, table, and everything that can be said about them."""

from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, create_model

from dashboard.api.body import Body, example
from dashboard.api.pages import LARGEST
from importer.engine.mapping.columns import MOST_VALUES, SOURCES
from importer.engine.mapping.suggest import MATCHES
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.plan.option_kinds import OptionSpec
from importer.engine.plan.option_specs import OPTIONS
from importer.engine.source.dialect import ESCAPES, LINE_ENDS, LONGEST_DELIMITER
from importer.engine.source.formats.options import FORMAT, FORMAT_OPTIONS
from importer.engine.source.formats.own_line_ends import LONGEST_MARK
from importer.preparation.request import Wish

MOST_LISTED = 4096  # columns of a table (manual, 10.4.7, Limits on Table Column Count and Row Size)
MOST_FILES = 1000
Text = Annotated[str, Field(max_length=255)]
Lines = Annotated[int, Field(ge=0, le=10**6)]
Mark = Annotated[str, Field(max_length=4 * LONGEST_DELIMITER)]


def _field(option: OptionSpec) -> Any:
    about = f"{option.about}.{option.kind.about}"
    return (option.kind.annotation(Field) | None, Field(None, description=about))


# Each option that a command has a flag for, as importer/engine/plan/option_specs.py declares it.
if TYPE_CHECKING:
    OptionsIn = Body
else:
    OptionsIn = create_model("Options", __base__=Body, **{each.name: _field(each) for each in OPTIONS})


LINE_END = rf"{', '.join(LINE_ENDS)} (each of the three), or a text of up to {LONGEST_MARK} characters such as ^^^\n."


class _Format(Body):
    r"""What is stated about the file's format. The rest is detected. In marks, `\t` and `\x01` stand for characters."""

    delimiter: Annotated[Mark | None, Field(examples=[";"])] = None
    quote: Annotated[str | None, Field(max_length=1, description="Empty: none.")] = None
    escape: Literal[tuple(ESCAPES)] | None = None  # type: ignore[valid-type]
    encoding: Annotated[str | None, Field(max_length=64, examples=["cp1252"])] = None
    line_end: Annotated[str | None, Field(max_length=64, description=LINE_END, examples=["crlf"])] = None
    header: bool | None = None
    skip_rows: Lines | None = None
    comment: Mark | None = None
    skip_after_header: Lines | None = None
    skip_footer: Lines | None = None
    skip_repeated_header: bool | None = None
    trailing_delimiter: bool | None = None
    blank_lines: Literal["skip", "keep"] | None = None
    unquoted_empty_is_null: bool | None = None


# What formats other than CSV have, as importer/engine/source/formats/options.py declares it.
OF_FORMATS = (FORMAT, *FORMAT_OPTIONS)
if TYPE_CHECKING:
    FormatIn = _Format
else:
    FormatIn = create_model(
        "Format",
        __base__=_Format,
        **{
            each.name: (Annotated[str | None, Field(max_length=255, description=f"{each.about}.")], None)
            for each in OF_FORMATS
        },
    )


class ColumnIn(Body):
    """The column of one field, and how its values are read. What is left out is suggested."""

    field: Annotated[str, Field(min_length=1, max_length=255, description="A name in the header, or #3.")]
    column: Annotated[str, Field(max_length=64, description="Empty: the field is left out.")]
    transforms: list[Literal[tuple(TRANSFORMS)]] | None = None  # type: ignore[valid-type]
    null: Annotated[list[Text] | None, Field(description="Texts that mean NULL.")] = None
    date_format: Annotated[str | None, Field(max_length=64, examples=["%d.%m.%Y"])] = None
    values: Annotated[
        list[Annotated[list[Text], Field(min_length=2, max_length=2)]] | None,
        Field(
            max_length=MOST_VALUES,
            description="Values that are replaced: pairs of a text of the field and the text that is loaded for it.",
            examples=[[["aktiv", "active"]]],
        ),
    ] = None
    lookup: Annotated[
        Text | None,
        Field(
            description="TABLE.COLUMN: the column gets the number of the row of that table which has the text.",
            examples=["team.name"],
        ),
    ] = None


class GeneratedIn(Body):
    """A column that no field fills, with the source of its values."""

    column: Annotated[str, Field(min_length=1, max_length=64)]
    source: Literal[SOURCES]  # type: ignore[valid-type]
    text: Annotated[str, Field(max_length=1024, description="With the source text: the constant.")] = ""


class NewTableIn(Body):
    """The table that mode create creates."""

    types: Annotated[dict[str, Text], Field(description="Types by column.")] = {}
    primary_key: list[Text] = []
    not_null: list[Text] = []
    widen: bool = True


class ImportIn(
    Body,
    json_schema_extra=example(
        file="5097bcd8-b699-4dfc-8229-2ebba0f07047", target="warehouse", table="orders", options={"on_error": "reject"}
    ),
):
    """A file to be loaded into a table.

    With a preset, its format, columns and options hold; `options`, `answers`, and the parts of `format` in which files
    may differ, may be given, too. With `like`, anything may be given: it holds.
    """

    file: Annotated[UUID | None, Field(description="An upload.")] = None
    files: Annotated[
        list[UUID], Field(max_length=MOST_FILES, description="Several uploads, loaded as one import in this order.")
    ] = []
    connection: Annotated[str, Field(max_length=64, description="Instead: a connection, by name, with `paths`.")] = ""
    paths: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=1024)]],
        Field(max_length=MOST_FILES, description="Files at the connection, or patterns of their names."),
    ] = []
    address: Annotated[
        str,
        Field(
            max_length=2000,
            description="Instead: a public https address, which is copied; where an admin allows that (WEB_ADDRESSES).",
        ),
    ] = ""
    server_file: Annotated[
        str,
        Field(
            max_length=1024,
            description="Instead, for admins: a file on the target's host, by its path there. The server reads it.",
        ),
    ] = ""
    all_members: Annotated[bool, Field(description="The file is an archive: all files in it are read as one.")] = False
    target: Annotated[str, Field(max_length=64, description="A name; empty: that of the preset, or of `like`.")] = ""
    table: Annotated[str, Field(max_length=130, description="TABLE or SCHEMA.TABLE.", examples=["orders"])] = ""
    preset: Annotated[str, Field(max_length=64)] = ""
    like: Annotated[
        int | None,
        Field(
            ge=1,
            le=LARGEST,
            description="The number of an import: its target, table, format, columns and options, as far as they fit.",
        ),
    ] = None
    format: FormatIn = FormatIn()
    match: Literal["", *MATCHES] = ""  # type: ignore[valid-type]
    ignore_fields: Annotated[bool, Field(description="Fields that no column has the name of are left out.")] = False
    null: Annotated[list[Text] | None, Field(description="Texts that mean NULL in each column.")] = None
    columns: Annotated[list[ColumnIn], Field(max_length=MOST_LISTED)] = []
    generated: Annotated[list[GeneratedIn], Field(max_length=MOST_LISTED)] = []
    add_columns: Annotated[
        dict[Text, Text],
        Field(
            max_length=MOST_LISTED,
            description="Columns that the table gets first, if it does not have them, with their types.",
            examples=[{"town": "varchar(40)"}],
        ),
    ] = {}
    options: OptionsIn = OptionsIn()
    new_table: NewTableIn = NewTableIn()
    answers: Annotated[
        dict[str, str],
        Field(
            description="Answers to the questions of a plan: the question's `name` (of one about a field `name:field`),"
            " and the `label` of the answer.",
            examples=[{"header": "the first record is the header"}],
        ),
    ] = {}
    accept_guesses: Annotated[bool, Field(description="Continue with the likeliest reading.")] = False

    def wish(self) -> Wish:
        """What the body says, without what it does not say."""
        return self.dict(exclude_unset=True)
