"""What the command line's options may be."""

import argparse

import pytest

from importer.management.arguments import percent, rows, sessions, size


def test_what_is_meant():
    assert (size("32M"), size("1g"), size("512KiB")) == (32 * 2**20, 2**30, 512 * 2**10)
    assert (rows("0"), rows("1000000")) == (0, 1_000_000)
    assert (percent("0"), percent("0.5"), percent("2.5%"), percent("100")) == (0, 0.5, 2.5, 100)
    assert (sessions("1"), sessions("64")) == (1, 64)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        *((size, text) for text in ("", "0", "-1", "1.5M", "M")),
        *((rows, text) for text in ("", "-1", "1.5", "1e3", "²", "9" * 19)),
        *((percent, text) for text in ("", "-1", "101", "100.1", "nan", "1e1", "½", "%")),
        *((sessions, text) for text in ("", "0", "65", "two")),
    ],
)
def test_what_is_not(read, text):
    with pytest.raises(argparse.ArgumentTypeError):
        read(text)
