"""What JSON becomes in the working copy, and which texts are refused."""

import json

import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source.formats.registry import detect_format
from tests.engine.source.formats.copies import copied

DEEP = '{"id": ' * 100_000 + "1" + "}" * 100_000


@pytest.mark.parametrize(
    ("content", "where", "what"),
    [
        ('{"id": 1}\n{"id": 2, "na', "line 2", "ends in the middle"),
        ('[{"id": 1},\n{"id": 2}', "line 2", "middle of its array"),
        ('{"id": 1}\n{"id": 2, "id": 3}\n', "line 2", "'id' stands twice"),
        ('{"id": 1}\n[2]\n', "line 2", "an array where an object"),
        ('{"id": NaN}\n', "line 1", "no NaN"),
        ('{"id": 1}\n{"id": 1, "name": "\\ud800"}\n', "line 2", "half of a character"),
        ('[{"id": 1}] 2', "line 1", "follows the array"),
        ('[{"id": 1},\n' + DEEP + "]", "line 2", "too many arrays or objects"),
        ('{"id": 1}\n' + DEEP + "\n", "line 2", "too many arrays or objects"),
        ("[" * 100_000, "line 1", "too many arrays or objects"),
    ],
)
def test_a_text_that_is_no_json_is_refused_with_the_line(source, content: str, where: str, what: str):
    path = source(content, "bad.json")
    with pytest.raises(SourceProblem, match=what) as refused:
        copied(path)
    assert where in refused.value.where


def test_an_array_as_python_writes_it_is_read_like_python_reads_it(source):
    wanted = [(n, f'"{n}"\\\n{chr(0x1F600)}') for n in range(3000)]
    path = source(json.dumps([{"id": n, "name": name} for n, name in wanted], indent=2), "python.json")
    assert copied(path) == [("id", "name"), *((str(n), name) for n, name in wanted)]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ('{"a": 1}\n{"a"', "jsonl"),
        ('\ufeff\n {"a": 1}\n', "jsonl"),
        ('{\n "a": 1}', "json"),
        ('[{"a": 1}]', "json"),
        ('{"a": {"b"', "json"),
        ('{"a": 1},5\n{"a": 2},6\n', "csv"),
        ("{a},b\n1,2\n", "csv"),
        ("[a],b\n1,2\n", "csv"),
        (DEEP, "json"),
    ],
)
def test_json_is_recognised_by_its_first_bytes(head: str, name: str):
    assert detect_format(head.encode()) == name
