"""The lines around the byte that keeps a file from being read."""

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source.dialect import RFC4180
from importer.engine.source.profile.fault_lines import SHOWN, lines_around
from importer.engine.source.profile.profile import profile_file


def shown(data: bytes, at: int) -> list[tuple[int, str]]:
    return [(each.number, f"{each.before}[{each.mark}]{each.after}") for each in lines_around(data, at, RFC4180)]


class TestLinesAround:
    def test_the_first_and_the_last_line_have_one_neighbour(self):
        assert shown(b"ab\ncd\nef", 1) == [(1, "a[b]"), (2, "cd[]")]
        assert shown(b"ab\ncd\nef", 7) == [(2, "cd[]"), (3, "e[f]")]
        assert shown(b"ab", 0) == [(1, "[a]b")]

    def test_a_long_line_is_cut_around_the_place(self):
        (line,) = lines_around(b"x" * 500 + b'"' + b"y" * 500, 500, RFC4180)
        assert (line.before, line.mark, line.after) == ("x" * SHOWN, '"', "y" * SHOWN)
        assert line.cut == (True, True)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_a_problem_of_a_file_has_them(self, tmp_path, encoding):
        path = tmp_path / "odd.csv"
        path.write_text('id;name\n1;é"\n2;"b\n' + "3;c\n" * 20, encoding=encoding)
        with pytest.raises(SourceProblem) as caught:
            profile_file(path)
        assert [(each.number, each.before, each.mark, each.after) for each in caught.value.lines] == [
            (2, '1;é"', "", ""),
            (3, "2;", '"', "b"),
            (4, "3;c", "", ""),
        ]
        assert caught.value.dialect.delimiter == ";"
