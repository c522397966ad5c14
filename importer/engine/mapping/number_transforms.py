"""The transforms that read numbers: decimal marks, separators of thousands, amounts of money, percent, other digits."""

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import cache

from importer.engine.mapping.transform import Transform
from importer.engine.mysql.quoting import quote_text
from importer.engine.schema.column_types import ColumnType, Family
from importer.engine.schema.table import Column

# As thousands separators: plain, no-break, narrow no-break, thin, as wide as a digit.
SPACES = " \u00a0\u202f\u2009\u2007"


def is_number_type(type_: ColumnType) -> bool:
    return type_.is_number


def _fraction(mark: str, column: Column) -> str:
    """The pattern of a number's decimals; only zeros for integer columns, which would round."""
    return (
        f"(?:{re.escape(mark)}0*)?" if column.column_type.family is Family.INTEGER else f"(?:{re.escape(mark)}[0-9]+)?"
    )


def _decimal_comma(column: Column) -> str:
    return f"[+-]?[0-9]+{_fraction(',', column)}"


def _grouped(separators: str, mark: str) -> Callable[[Column], str]:
    """The pattern of a number with a separator before each three digits of its whole part, or without separators.

    With separators it does not begin with 0: 0,125 has a decimal comma.
    """

    def takes(column: Column) -> str:
        return f"[+-]?(?:[0-9]+|[1-9][0-9]{{0,2}}(?:[{separators}][0-9]{{3}})+){_fraction(mark, column)}"

    return takes


def _plain_number_in_python(separators: str, mark: str) -> Callable[[str], str]:
    without = dict.fromkeys(map(ord, separators))
    return lambda text: text.translate(without).replace(mark, ".")


def _plain_number(separators: str, mark: str) -> Callable[[str, Column], str]:
    """SQL that removes the separators and replaces the decimal mark by a point."""

    def expression(text: str, _column: Column) -> str:
        for each in separators:
            text = f"REPLACE({text}, {quote_text(each)}, '')"
        return text if mark == "." else f"REPLACE({text}, {quote_text(mark)}, '.')"

    return expression


def _number(name: str, words: str, example: str, separators: str, mark: str) -> Transform:
    takes = _grouped(separators, mark) if separators else _decimal_comma
    sql, in_python = _plain_number(separators, mark), _plain_number_in_python(separators, mark)
    return Transform(
        name, words, example, is_number_type, takes, sql, in_python=in_python, separators=separators, decimal_mark=mark
    )


def _indian(column: Column) -> str:
    """The pattern of a number with a comma before its last three digits, and then before each two."""
    grouped = "[1-9][0-9]?(?:,[0-9]{2})*,[0-9]{3}|[1-9][0-9]{2},[0-9]{3}"
    return f"[+-]?(?:[0-9]+|{grouped}){_fraction('.', column)}"


# Signs and codes of currencies, none with a point or a minus in it.
_CURRENCIES = (
    *"€$£¥₹₽₩₺₪₫₴₦₱฿₡₲₵₸₼₾₿¢",
    *("R$", "US$", "A$", "C$", "HK$", "NZ$", "S$", "NT$", "kr", "zł", "Kč", "Ft", "lei", "Rs"),
    *("EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "RUB", "KRW", "TRY", "ILS", "VND", "UAH", "BRL", "AUD", "CAD"),
    *("NZD", "HKD", "SGD", "TWD", "SEK", "NOK", "DKK", "ISK", "PLN", "CZK", "HUF", "RON", "BGN", "MXN", "ARS", "CLP"),
    *("COP", "PEN", "ZAR", "EGP", "NGN", "KES", "MAD", "AED", "SAR", "THB", "IDR", "MYR", "PHP", "PKR", "BDT", "LKR"),
)
_SIGN = f"(?:{'|'.join(map(re.escape, sorted(_CURRENCIES, key=len, reverse=True)))})"
_MINUS = "-\u2212"


def currency_of(text: str) -> str:
    """The first sign or code of a currency in the text, "" if it has none."""
    match = re.search(_SIGN, text)
    return match[0] if match else ""


def amount_names(currency: str) -> tuple[str, str]:
    """The transforms for amounts in this currency, in any if it is "": with a decimal point, with a decimal comma."""
    suffix = f"-{currency}" if currency else ""
    return f"money{suffix}", f"money-comma{suffix}"


def _amount(separators: str, mark: str, currency: str) -> Callable[[Column], str]:
    """The pattern of an amount of money, with at most one sign of a currency and one of a negative number.

    `currency`: the only sign that is accepted, "" for any.
    """
    sign = re.escape(currency) or _SIGN

    def takes(column: Column) -> str:
        whole = f"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:[{separators}][0-9]{{3}})+)"
        number, blank = f"{whole}{_fraction(mark, column)}", f"[{SPACES}]?"
        either = f"(?:(?:{sign}{blank})?{number}|{number}{blank}{sign})"
        minus = f"[{_MINUS}]"
        return (
            f"[{_MINUS}+]?{either}|{sign}{blank}{minus}{number}|[(]{either}[)]"
            f"|{either}{minus}|{number}{minus}{blank}{sign}"
        )

    return takes


def _amount_sql(mark: str) -> Callable[[str, Column], str]:
    """SQL that keeps the digits and the decimal mark, and puts a minus before a negative amount."""

    def expression(text: str, _column: Column) -> str:
        digits = f"REGEXP_REPLACE({text}, {quote_text(f'[^0-9{mark}]')}, '')"
        digits = digits if mark == "." else f"REPLACE({digits}, {quote_text(mark)}, '.')"
        return f"CONCAT(IF({text} REGEXP {quote_text(f'[{_MINUS}(]')}, '-', ''), {digits})"

    return expression


def _amount_in_python(mark: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        digits = re.sub(f"[^0-9{mark}]", "", text).replace(mark, ".")
        return f"-{digits}" if re.search(f"[{_MINUS}(]", text) else digits

    return convert


def _percent(mark: str) -> Callable[[Column], str]:
    return lambda _column: f"[+-]?[0-9]{{1,20}}(?:{re.escape(mark)}[0-9]{{1,10}})?[{SPACES}]?%"


def _number_before_percent(text: str, mark: str) -> str:
    number = text
    for each in (*SPACES, "%"):
        number = f"REPLACE({number}, {quote_text(each)}, '')"
    return number if mark == "." else f"REPLACE({number}, {quote_text(mark)}, '.')"


def _percent_transforms(suffix: str, words: str, mark: str) -> tuple[Transform, Transform]:
    """Two readings of 12.5 %: as 0.125, and as 12.5."""
    example = f"12{mark}5 %"

    def number(text: str) -> str:
        return text.rstrip(f"%{SPACES}").replace(mark, ".")

    def hundredth(text: str, _column: Column) -> str:
        # DECIMAL arithmetic is exact; the factor adds two decimals to ten.
        return f"CAST({_number_before_percent(text, mark)} AS DECIMAL(40,10)) * 0.01"

    return (
        Transform(
            f"percent{suffix}",
            f"percent as a fraction{words}",
            f"{example} → 0.125",
            lambda type_: type_.has_fraction,
            _percent(mark),
            hundredth,
            in_python=lambda text: _hundredth_in_python(number(text)),
        ),
        Transform(
            f"percent-number{suffix}",
            f"percent as a number{words}",
            f"{example} → 12.5",
            lambda type_: type_.has_fraction,
            _percent(mark),
            lambda text, _column: _number_before_percent(text, mark),
            in_python=number,
        ),
    )


def _hundredth_in_python(number: str) -> str:
    try:
        return format(Decimal(number).scaleb(-2), "f")
    except InvalidOperation:
        return number


_DECIMAL_MARK, _GROUPS = "\u066b", f"\u066c{SPACES}"
_LAST_ZERO = 0x20000  # no script has its digits behind it


@cache
def _digits_of(digit: int) -> str:
    """The digit in all scripts but this one: Arabic-Indic, Devanagari, Thai, full width and so on."""
    others = map(chr, range(0x80, _LAST_ZERO))
    return "".join(each for each in others if unicodedata.decimal(each, -1) == digit)


def _local_digits(column: Column) -> str:
    digit = f"[{''.join(map(_digits_of, range(10)))}]"
    decimals = f"[{_digits_of(0)}]*" if column.column_type.family is Family.INTEGER else f"{digit}+"
    whole = f"(?:{digit}+|{digit}{{1,3}}(?:[{_GROUPS}]{digit}{{3}})+)"
    return f"[+-]?{whole}(?:[{_DECIMAL_MARK}.]{decimals})?"


def _local_digits_sql(text: str, _column: Column) -> str:
    for digit in range(10):
        text = f"REGEXP_REPLACE({text}, {quote_text(f'[{_digits_of(digit)}]')}, '{digit}')"
    return f"REPLACE(REGEXP_REPLACE({text}, {quote_text(f'[{_GROUPS}]')}, ''), {quote_text(_DECIMAL_MARK)}, '.')"


def _local_digits_in_python(text: str) -> str:
    written = (str(unicodedata.decimal(each, each)) for each in text if each not in _GROUPS)
    return "".join(written).replace(_DECIMAL_MARK, ".")


def _own(name: str, words: str, example: str, takes: Callable[[Column], str], separators: str) -> Transform:
    """A number with a point as its decimal mark and a pattern of its own."""
    sql, in_python = _plain_number(separators, "."), _plain_number_in_python(separators, ".")
    return Transform(
        name, words, example, is_number_type, takes, sql, in_python=in_python, separators=separators, decimal_mark="."
    )


def _amounts(currency: str) -> tuple[Transform, Transform]:
    """The two readings of amounts in this currency, or in any if it is ""."""
    words = f"amount in {currency}" if currency else "amount"

    def money(name: str, mark: str, words: str, number: str) -> Transform:
        example = f"{number} → 1234.50" if currency else f"{number}, (5), 5- → 1234.50, -5, -5"
        separators = f"{'.' if mark == ',' else ','}'\u2019{SPACES}"
        takes, sql, in_python = _amount(separators, mark, currency), _amount_sql(mark), _amount_in_python(mark)
        return Transform(name, words, example, is_number_type, takes, sql, in_python=in_python, currency=currency)

    point, comma = amount_names(currency)
    return (
        money(point, ".", f"{words}, decimal point", f"{currency or '$'}1,234.50"),
        money(comma, ",", f"{words}, decimal comma", f"1.234,50 {currency or '€'}"),
    )


NUMBERS = (
    _number("decimal-comma", "decimal comma", "1234,5 → 1234.5", "", ","),
    _number("thousands-comma", "thousands comma", "1,234.5 → 1234.5", ",", "."),
    _number("thousands-dot", "thousands dot, decimal comma", "1.234,5 → 1234.5", ".", ","),
    _number("thousands-space", "thousands space, decimal comma", "1 234,5 → 1234.5", SPACES, ","),
    _number("thousands-space-point", "thousands space, decimal point", "1 234.5 → 1234.5", SPACES, "."),
    _number("thousands-apostrophe", "thousands apostrophe", "1'234.5 → 1234.5", "'\u2019", "."),
    _own("thousands-indian", "Indian grouping", "12,34,567.5 → 1234567.5", _indian, ","),
    *_amounts(""),
    *_percent_transforms("", "", "."),
    *_percent_transforms("-comma", ", decimal comma", ","),
    Transform(
        "local-digits",
        "Arabic, Indian and other digits",
        "\u0661\u0662\u066b\u0665 → 12.5",
        is_number_type,
        _local_digits,
        _local_digits_sql,
        in_python=_local_digits_in_python,
    ),
    *(each for currency in _CURRENCIES for each in _amounts(currency)),
)
