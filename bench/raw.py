"""The baseline: LOAD DATA LOCAL of files that were split beforehand, over several sessions, with no checks at all."""

import threading
import time
from pathlib import Path
from queue import Empty, Queue

import MySQLdb

from importer.engine.connection import Address
from importer.engine.load import open_source
from importer.engine.methods import load_data_local
from importer.engine.profile import profile_file
from importer.engine.scanner import scan


def split(path: Path, folder: Path, pieces: int) -> list[Path]:
    """Cut the file's data, without its header, at record ends into about so many files."""
    profile = profile_file(path)
    size = path.stat().st_size
    made = []
    with open_source(path) as fd:
        for each in scan(
            fd,
            profile.dialect,
            start=profile.data_offset,
            first_line=profile.data_line,
            end=size,
            chunk_bytes=-(-(size - profile.data_offset) // pieces),
        ):
            piece = folder / f"{path.stem}-{each.number}.csv"
            with path.open("rb") as source, piece.open("wb") as out:
                source.seek(each.offset)
                out.write(source.read(each.length))
            made.append(piece)
    return made


def load(address: Address, statement: str, pieces: list[Path], sessions: int) -> float:
    """Load the files, each in one autocommitted statement; seconds from the first connect to the last answer."""
    waiting: Queue[Path] = Queue()
    for piece in pieces:
        waiting.put(piece)
    failures: list[BaseException] = []

    def session() -> None:
        try:
            connection = MySQLdb.connect(
                host=address.host, port=address.port, user=address.user, db=address.database,
                charset="utf8mb4", local_infile=1, autocommit=True,
            )  # fmt: skip
            while True:
                piece = waiting.get_nowait()
                connection.cursor().execute(statement.replace(f"'{load_data_local.FEED_NAME}'", f"'{piece}'", 1))
        except Empty:
            return
        except BaseException as error:
            failures.append(error)

    begun = time.perf_counter()
    threads = [threading.Thread(target=session) for _ in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return time.perf_counter() - begun
