"""Files in the habits of exporters, made by each run from fixed seeds, each with its truth."""

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta

from tests.reading.corpus.languages import LANGUAGES, Language
from tests.reading.corpus.truth import Sample, Truth

ROWS = 40
Row = tuple[str, ...]


def records(language: Language, *, amount: str = "", day: str = "") -> list[Row]:
    """The rows of an export: number, name, date, amount, note. `amount` and `day` are other marks and formats."""
    chance = random.Random(language.code)
    rows = []
    for number in range(1, ROWS + 1):
        value = f"{chance.uniform(-2000, 90000):.2f}".replace(".", amount or language.mark)
        at = date(2023, 1, 1) + timedelta(chance.randrange(700))
        rows.append(
            (
                str(1000 + number),
                chance.choice(language.people),
                at.strftime(day or language.date),
                value,
                chance.choice((*language.notes, "")),
            )
        )
    return rows


def quoted(value: str, needs: str) -> str:
    """The value, in quotes if it has one of the characters."""
    return '"' + value.replace('"', '""') + '"' if any(each in value for each in needs) else value


def lines(rows: Sequence[Sequence[str]], delimiter: str, end: str, always: bool = False) -> str:
    """Rows with quotes where they are needed, or always."""
    form = (
        (lambda value: '"' + value.replace('"', '""') + '"')
        if always
        else (lambda value: quoted(value, delimiter + '"\r\n'))
    )
    return "".join(delimiter.join(map(form, row)) + end for row in rows)


def excel(language: Language) -> Sample:
    """`CSV (Trennzeichen-getrennt)`: the old encoding of the country, CR LF."""
    text = lines([language.fields, *records(language)], language.delimiter, "\r\n")
    truth = Truth(language.delimiter, encoding=language.legacy, end="crlf")
    return Sample(f"excel-{language.code}.csv", text.encode(language.legacy, "replace"), truth)


def excel_utf8(language: Language) -> Sample:
    """`CSV UTF-8`: with a byte order mark."""
    text = lines([language.fields, *records(language)], language.delimiter, "\r\n")
    return Sample(f"excel-utf8-{language.code}.csv", text.encode("utf-8-sig"), Truth(language.delimiter, end="crlf"))


def excel_unicode(language: Language) -> Sample:
    """`Unicode Text`: UTF-16 with a mark, tabs."""
    text = lines([language.fields, *records(language)], "\t", "\r\n")
    truth = Truth("\t", encoding="utf-16-le", end="crlf")
    return Sample(f"excel-unicode-{language.code}.txt", b"\xff\xfe" + text.encode("utf-16-le"), truth)


def libreoffice(language: Language) -> Sample:
    """Texts in quotes, numbers without, LF."""
    rows = [
        f'{number},"{name}",{day},"{amount}","{note.replace(chr(34), chr(34) * 2)}"\n'
        for number, name, day, amount, note in records(language)
    ]
    header = ",".join(f'"{each}"' for each in language.fields) + "\n"
    return Sample(f"libreoffice-{language.code}.csv", (header + "".join(rows)).encode(), Truth())


def google(language: Language) -> Sample:
    """Commas, CR LF, no end of the last line."""
    text = lines([language.fields, *records(language, amount=".", day="%Y-%m-%d")], ",", "\r\n").removesuffix("\r\n")
    return Sample(f"google-{language.code}.csv", text.encode(), Truth(end="crlf"))


def phpmyadmin(language: Language) -> Sample:
    """All values in quotes, semicolons, no header."""
    text = lines(records(language, amount=".", day="%Y-%m-%d"), ";", "\n", always=True)
    return Sample(f"phpmyadmin-{language.code}.csv", text.encode(), Truth(";", header=False))


EACH_LANGUAGE: tuple[Callable[[Language], Sample], ...] = (
    excel, excel_utf8, excel_unicode, libreoffice, google,
)  # fmt: skip


def made() -> Iterator[Sample]:
    """All generated files: some habits in each language, the others in a few."""
    from tests.reading.corpus import databases, programs

    for language in LANGUAGES:
        for habit in EACH_LANGUAGE:
            yield habit(language)
    yield from databases.samples()
    yield from programs.samples()
