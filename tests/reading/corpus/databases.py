"""Files in the habits of databases."""

from collections.abc import Iterator

from tests.reading.corpus.languages import BY_CODE
from tests.reading.corpus.made import lines, phpmyadmin, records
from tests.reading.corpus.truth import Sample, Truth

NAMES = ("id", "name", "born", "amount", "note")


def samples() -> Iterator[Sample]:
    for code in ("en-us", "de", "fr", "ru", "ja"):
        yield phpmyadmin(BY_CODE[code])
    for code in ("en-us", "de", "pl"):
        rows = records(BY_CODE[code], amount=".", day="%Y-%m-%d")
        yield Sample(f"postgres-csv-{code}.csv", lines([NAMES, *rows], ",", "\n").encode(), Truth())
        text = "".join("\t".join(each or r"\N" for each in row) + "\n" for row in rows)
        yield Sample(f"postgres-text-{code}.tsv", text.encode(), Truth("\t", quote="", header=False))
        text = "".join("\t".join(each or r"\N" for each in row) + "\n" for row in rows)
        yield Sample(f"mysql-outfile-{code}.txt", text.encode(), Truth("\t", quote="", header=False))
        text = "".join("\t".join(each or "NULL" for each in row) + "\n" for row in [NAMES, *rows])
        yield Sample(f"mysql-batch-{code}.tsv", text.encode(), Truth("\t"))
        yield Sample(f"mysql-boxed-{code}.txt", _boxed([NAMES, *rows]).encode(), _boxed_truth(len(rows)))
        yield Sample(f"oracle-spool-{code}.lst", _spooled(rows).encode(), Truth(header=True, skipped=(2, 44), data=3))
    rows = records(BY_CODE["en-gb"], amount=".", day="%d-%b-%y")
    yield Sample("oracle-developer.csv", lines([NAMES, *rows], ",", "\n", always=True).encode(), Truth())
    yield Sample("hive.txt", "".join("\x01".join(row) + "\n" for row in rows).encode(), Truth("\x01", header=False))
    yield Sample("db2-del.del", "".join(_db2(row) for row in rows).encode(), Truth(header=False, end="crlf"))
    yield Sample("sqlserver-bcp.dat", "".join("|".join(row) + "\r\n" for row in rows).encode(),
                 Truth("|", header=False, end="crlf"))  # fmt: skip
    yield Sample("sqlite-list.txt", "".join("|".join(row) + "\n" for row in [NAMES, *rows]).encode(), Truth("|"))
    yield Sample("teradata.txt", "".join("||".join(row) + "\n" for row in [NAMES, *rows]).encode(), Truth("||"))


def _db2(row: tuple[str, ...]) -> str:
    number, *texts = row
    return ",".join([number, *('"' + text.replace('"', '""') + '"' for text in texts)]) + "\r\n"


def _boxed(rows: list[tuple[str, ...]]) -> str:
    """As the mysql client prints: `| a | b |` between lines of `+---+`."""
    widths = [max(len(row[number]) for row in rows) for number in range(len(rows[0]))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+\n"
    body = [
        "| " + " | ".join(f"{each:<{width}}" for each, width in zip(row, widths, strict=True)) + " |\n" for row in rows
    ]
    return rule + body[0] + rule + "".join(body[1:]) + rule


def _boxed_truth(rows: int) -> Truth:
    return Truth("|", skipped=(1, 3, rows + 4), data=4)


def _spooled(rows: list[tuple[str, ...]]) -> str:
    """SQL*Plus with `set colsep ,`: a rule below the names, and a count at the end behind a blank line."""
    names = ("ID", "NAME", "BORN", "AMOUNT", "NOTE")
    body = ["\t".join(row).replace(",", " ").replace("\t", ",") + "\n" for row in rows]
    rule = ",".join("-" * 10 for _ in names) + "\n"
    return ",".join(names) + "\n" + rule + "".join(body) + "\n" + f"{len(rows)} rows selected.\n"
