"""Files in the habits of languages, SAP, banks and instruments."""

import random
from collections.abc import Iterator

from tests.reading.corpus.languages import BY_CODE
from tests.reading.corpus.made import lines, records
from tests.reading.corpus.truth import Sample, Truth

NAMES = ("id", "name", "born", "amount", "note")


def samples() -> Iterator[Sample]:
    yield from _statistics()
    yield from _sap()
    yield from _php()
    yield from _banks()
    yield from _instruments()


def _statistics() -> Iterator[Sample]:
    """R's write.csv and write.table, pandas' index."""
    rows = records(BY_CODE["en-us"], amount=".", day="%Y-%m-%d")
    numbered = [(str(number), *row) for number, row in enumerate(rows)]
    yield Sample("r-write-csv.csv", lines([("", *NAMES), *numbered], ",", "\n", always=True).encode(), Truth())
    yield Sample("r-write-csv2.csv", lines([("", *NAMES), *numbered], ";", "\n", always=True).encode(), Truth(";"))
    yield Sample("r-no-names.csv", lines([NAMES, *rows], ",", "\n", always=True).encode(), Truth())
    yield Sample("r-write-table.txt", lines([NAMES, *rows], " ", "\n", always=True).encode(), Truth(" "))
    yield Sample("pandas-index.csv", lines([("", *NAMES), *numbered], ",", "\n").encode(), Truth())
    yield Sample("pandas.tsv", lines([NAMES, *rows], "\t", "\n").encode(), Truth("\t"))
    yield Sample("julia.csv", lines([NAMES, *rows], ",", "\n").encode(), Truth())


def _sap() -> Iterator[Sample]:
    """A list of SAP: rules of hyphens, bars at both ends, a minus behind the amount."""
    for code in ("de", "en-us"):
        language = BY_CODE[code]
        rows = [
            (number, name, day, f"{amount[1:]}-" if amount.startswith("-") else amount, note)
            for number, name, day, amount, note in records(language)
        ]
        widths = [max(len(row[at]) for row in [language.fields, *rows]) for at in range(5)]
        body = ["|" + "|".join(f"{each:<{width}}" for each, width in zip(row, widths, strict=True)) + "|\r\n"
                for row in [language.fields, *rows]]  # fmt: skip
        rule = "-" * (sum(widths) + 6) + "\r\n"
        text = f"Liste 01.02.2024\r\n\r\n{rule}{body[0]}{rule}{''.join(body[1:])}{rule}"
        truth = Truth("|", skipped=(1, 3, 5, len(rows) + 6), data=6, end="crlf")
        yield Sample(f"sap-list-{code}.txt", text.encode(), truth)
        text = "".join("\t".join(row) + "\r\n" for row in [language.fields, *rows])
        yield Sample(f"sap-tabs-{code}.txt", text.encode(), Truth("\t", end="crlf"))


def _php() -> Iterator[Sample]:
    """fputcsv: quotes where a value has a blank."""
    for code in ("en-us", "fr"):
        rows = records(BY_CODE[code], amount=".", day="%Y-%m-%d")
        text = "".join(
            ",".join('"' + each.replace('"', '""') + '"' if set(each) & set(' ",\t\\') else each for each in row) + "\n"
            for row in [NAMES, *rows]
        )
        yield Sample(f"php-{code}.csv", text.encode(), Truth())


def _banks() -> Iterator[Sample]:
    """An account's movements: owner and period above, the balance below."""
    language = BY_CODE["de"]
    rows = records(language)
    above = "Konto;DE02 1203 0000 0000 2020 51\r\nInhaber;Jürgen Groß\r\nZeitraum;01.01.2023 - 31.12.2024\r\n\r\n"
    body = lines([language.fields, *rows], ";", "\r\n", always=True)
    truth = Truth(";", skipped=(1, 2, 3), data=6, encoding="utf-8", end="crlf")
    yield Sample("bank-above.csv", (above + body).encode(), truth)
    below = "\r\nSaldo;;;12.345,67;\r\n"
    yield Sample("bank-below.csv", (body + below).encode(), Truth(";", skipped=(len(rows) + 3,), end="crlf"))
    sep = "sep=;\r\n" + lines([language.fields, *rows], ";", "\r\n")
    yield Sample("sep-line.csv", sep.encode("utf-8-sig"), Truth(";", skipped=(1,), data=3, end="crlf"))
    comments = "# account export\n# encoding: utf-8\n" + lines([language.fields, *rows], ";", "\n")
    yield Sample("comments.csv", comments.encode(), Truth(";", skipped=(1, 2), data=4))


def _instruments() -> Iterator[Sample]:
    """Measurements: a preamble of settings, names, units, and a last line."""
    chance = random.Random("instruments")
    values = [(f"{step / 10:.1f}", f"{chance.gauss(20, 1):.3f}", f"{chance.gauss(1013, 2):.2f}") for step in range(60)]
    names, units = ("time", "temperature", "pressure"), ("[s]", "[°C]", "[hPa]")
    settings = "Instrument: TX-200\nSerial: 0042\nRate: 10 Hz\n"
    yield Sample("units.csv", lines([names, units, *values], ",", "\n").encode(), Truth(skipped=(2,), data=3))
    text = settings + lines([names, units, *values], "\t", "\n")
    yield Sample("settings-units.tsv", text.encode(), Truth("\t", skipped=(1, 2, 3, 5), data=6))
    text = settings + "\n" + lines([names, *values], ",", "\n")
    yield Sample("settings.csv", text.encode(), Truth(skipped=(1, 2, 3), data=6))
    text = lines([names, *values], ",", "\n") + "*** end of measurement ***\n"
    yield Sample("last-line.csv", text.encode(), Truth(skipped=(len(values) + 2,)))
    text = "% made by a solver\n" + lines([names, *values], " ", "\n")
    yield Sample("percent.txt", text.encode(), Truth(" ", skipped=(1,), data=3))
    yield Sample("no-names.dat", lines(values, "\t", "\r\n").encode(), Truth("\t", header=False, end="crlf"))
    yield Sample("nmea.log", "".join(f"$GPGGA,{each[0]},{each[1]},N,{each[2]}\r\n" for each in values).encode(),
                 Truth(header=False, end="crlf"))  # fmt: skip
