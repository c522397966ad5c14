"""Character sets of columns, by how their bytes relate to UTF-8."""

# Texts have the bytes of UTF-8.
AS_UTF8 = frozenset({"utf8mb4", "utf8mb3", "utf8", "ascii"})
# ASCII has the bytes of UTF-8, and no other text has only such bytes: all character sets of either server but swe7,
# sjis and those with wider characters (tried on both: server-behaviour.md, Speed).
WITH_ASCII = AS_UTF8 | {
    "latin1", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
    "armscii8", "dec8", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "macce", "macroman",
    "tis620", "big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "ujis",
}  # fmt: skip
# A character may have more than one byte, and at most MOST_BYTES (manual, Supported Character Sets and Collations).
WITH_LONG_CHARACTERS = (AS_UTF8 - {"ascii"}) | {
    "big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis", "ucs2", "utf16", "utf16le",
    "utf32",
}  # fmt: skip
MOST_BYTES = 4
