"""The hash of a row, as the server computes it; native/src/digests/row_digests.c computes the same of the file.

Each value has a number t below 2^32: the CRC-32 of the text that the server shows. A row has t1 * factor1 xor t2 *
factor2 xor ..., and its hash is the CRC-32 of that number as decimal text. The factors bind a value to its column. The
last CRC-32 binds the values of a row to each other: without it, the sum over all rows often stays the same if two rows
exchange a value (in 1 of 10,000 cases with 32 bits). No product exceeds 64 bits, which would be an error on the server
(manual, Out-of-Range and Overflow Handling).
"""

import zlib
from collections.abc import Sequence

# The server parses and computes nested expressions by recursion. At most this number of values is in one
# pair of parentheses.
IN_PARENTHESES = 32
# Stands for NULL, whose CRC-32 is NULL. A value could be the same only on purpose.
NULL_TEXT = "NULL 5f1d7c3a9b42e806"
NULL_CRC = zlib.crc32(NULL_TEXT.encode())


def factor(number: int) -> int:
    """The factor of a column, by its number among those that are hashed; odd and below 2^31."""
    return (number * 0x9E3779B1 + 0x7F4A7C15) % 2**30 | 2**30 | 1


def row_hash_sql(terms: Sequence[str]) -> str:
    """SQL for the hash of a row; `terms` are SQL for the CRC-32 of each column's text, in their order."""
    products = [f"{term} * {factor(number)}" for number, term in enumerate(terms)]
    groups = (products[low : low + IN_PARENTHESES] for low in range(0, len(products), IN_PARENTHESES))
    mixed = " ^ ".join(f"({' ^ '.join(f'({each})' for each in group)})" for group in groups)
    return f"CRC32({mixed})"


def crc_sql(text: str, *, nullable: bool) -> str:
    """SQL for the CRC-32 of a column that is shown as `text`."""
    return f"CRC32(IFNULL({text}, '{NULL_TEXT}'))" if nullable else f"CRC32({text})"
