"""The summary that a chunk's reject files keep is read as older versions wrote it."""

import json
from pathlib import Path

from importer.engine.load.outcome import NoticeCount, ReasonCount, Tally
from importer.engine.load.rejects.reject_files import read_counts

STORED = {
    "rows": 5,
    "tally": {"loaded": 3, "replaced": 0, "skipped": 1, "rejected": 1},
    "reasons": [{"code": "1366", "column": "n", "reason": "The value does not fit int.", "rows": 1}],
    "notices": [{"code": "1265", "column": "v", "reason": "Spaces were cut off.", "values": 2}],
}


def test_counts_of_a_committed_chunk_are_read(tmp_path: Path):
    (tmp_path / "00000007.json").write_text(json.dumps(STORED))
    reasons, notices = read_counts(tmp_path, 7, Tally(3, 0, 1, 1))
    assert reasons == (ReasonCount("1366", "n", "The value does not fit int.", 1),)
    assert notices == (NoticeCount("1265", "v", "Spaces were cut off.", 2),)


def test_counts_of_another_attempt_are_not_taken(tmp_path: Path):
    (tmp_path / "00000007.json").write_text(json.dumps(STORED))
    assert read_counts(tmp_path, 7, Tally(4, 0, 1, 0)) == ((), ())
