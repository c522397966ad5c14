"""The encoding of a file, as its first part shows it: proved, stated, a rule or a guess."""

import codecs

import pytest

from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.profile.profile import SAMPLE_BYTES, Profile, profile_file

TEXT = "id,name\n1,Zoë €\n2,Jürgen 🙂\n"
ROWS = (("1", "Zoë €"), ("2", "Jürgen 🙂"))
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


def encoding_of(profile: Profile) -> Decision:
    return next(each for each in profile.decisions if each.name == "encoding")


class TestEncoding:
    @pytest.mark.parametrize("known", [{}, {"encoding": "cp1252"}])
    @pytest.mark.parametrize("encoding", MARKS)
    def test_a_byte_order_mark_decides(self, source, encoding, known):
        profile = profile_file(source(MARKS[encoding] + TEXT.encode(encoding)), **known)
        assert profile.dialect.encoding == encoding
        assert (profile.header, profile.rows) == (("id", "name"), ROWS)
        assert f"byte order mark of {encoding}" in profile.notes[0]
        assert ("not read as cp1252" in profile.notes[0]) == bool(known)
        assert encoding_of(profile).standing is Standing.PROVED

    def test_a_mark_that_is_there_twice_is_left_out(self, source):
        profile = profile_file(source("\ufeff\ufeffid,name\n1,é\n"))
        assert (profile.header, profile.rows) == (("id", "name"), (("1", "é"),))
        assert "It is there twice." in encoding_of(profile).evidence

    @pytest.mark.parametrize("encoding", [each for each in MARKS if each != "utf-8"])
    def test_zero_bytes_prove_it_without_a_mark(self, source, encoding):
        path = source(TEXT.encode(encoding))
        detected, chosen = profile_file(path), profile_file(path, encoding=encoding)
        assert detected.dialect == chosen.dialect
        assert detected.rows == chosen.rows == ROWS
        assert encoding_of(detected).standing is Standing.PROVED
        assert encoding_of(chosen).standing is Standing.STATED

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    @pytest.mark.parametrize("text", ["дім;лід\nЇжак;Львів\nЄва;Їдло\n", "名前;都市\n田中;東京\n鈴木;大阪\n"])  # noqa: RUF001
    def test_line_ends_tell_other_scripts_without_a_mark(self, source, encoding, text):
        profile = profile_file(source(text.encode(encoding)))
        assert profile.dialect.encoding == encoding
        assert len(profile.rows) == 2

    def test_western_windows_is_a_guess_that_names_line_and_byte(self, source):
        profile = profile_file(source("id,name\n1,Anna\n2,Jürgen €\n".encode("cp1252")))
        decision = encoding_of(profile)
        assert profile.rows[1] == ("2", "Jürgen €")
        assert decision.evidence == "The byte 0xFC on line 3 is not UTF-8; cp1252 is a guess."
        assert (decision.answers[0].flag, decision.answers[0].shows) == ("--encoding cp1252", ("Jürgen", "€"))
        assert len({answer.shows for answer in decision.answers}) == len(decision.answers) > 1

    def test_some_lines_of_another_encoding_do_not_change_that_of_the_file(self, source):
        lines = ["id,name", "1,Zoë", "2,Jürgen", "3,X", "4,Łódź", "5,é"]
        data = "\n".join(lines).encode().replace(b"3,X", b"3,Andr\xe9") + b"\n"
        profile = profile_file(source(data))
        assert (profile.dialect.encoding, profile.rows[0]) == ("utf-8", ("1", "Zoë"))
        assert "but line 4 of its first part is not" in encoding_of(profile).evidence

    def test_bytes_that_cp1252_does_not_have_make_another_guess(self, source):
        assert profile_file(source(b"id,name\n1,\x81\xe9\n")).dialect.encoding == "iso8859-1"

    def test_a_choice_that_looks_wrong_is_noted(self, source):
        assert "would be valid UTF-8" in profile_file(source("a\né\n"), encoding="cp1252").notes[0]
        assert "check the words below" in profile_file(source(b"a\n\xe9\n"), encoding="latin1").notes[0]

    def test_a_header_in_the_chosen_encoding(self, source):
        profile = profile_file(source("Größe,ソ表\n1,能\n".encode("gb18030")), encoding="gb18030")
        assert (profile.header, profile.rows) == (("Größe", "ソ表"), (("1", "能"),))

    def test_a_character_that_the_sample_cuts_is_no_doubt(self, source):
        for before in range(2):
            head = "a" * before + "é" * (SAMPLE_BYTES // 2)
            assert profile_file(source(f"id\n1\n{head}\n")).dialect.encoding == "utf-8"

    @pytest.mark.parametrize(
        ("encoding", "words"),
        [
            ("cp1251", "Київ, вулиця"),
            ("koi8-r", "Москва, улица"),
            ("cp850", "Zürich Straße"),
            ("shift_jis", "東京 表示"),
            ("gb18030", "北京市 朝阳区"),
            ("big5", "臺北市 信義區"),
            ("euc_kr", "서울 거리"),
            ("cp1252", "Anna\x00 Jürgen"),
        ],
    )
    def test_texts_in_any_encoding_are_texts(self, source, encoding, words):
        lines = [f'{number};"{words} {number}";2024-01-31 12:00:00' for number in range(50)]
        profile = profile_file(source("\n".join(["id;name;seen", *lines]).encode(encoding)))
        decision = encoding_of(profile)
        assert decision.guessed
        readings = [
            words.encode(encoding).decode(dict(each.states)["encoding"], "replace") for each in decision.answers
        ]
        assert words in readings
