"""How large the parts of Millrace may become. `python -m tests.budget` prints how large they are.

A commit that passes a ceiling raises it here in the same commit, and says in its body why that is worth its lines.
"""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Files of Millrace that a load of three rows by command executes.
MOST_FILES = 489


@dataclass(frozen=True)
class Part:
    """The files with these endings in a folder, but for some folders in it; `ceiling` in lines."""

    folder: str
    endings: tuple[str, ...]
    ceiling: int
    without: tuple[str, ...] = ()

    def lines(self) -> int:
        """The lines of the part, blank ones included."""
        left_out = [ROOT / each for each in self.without]
        files = (
            path
            for path in (ROOT / self.folder).rglob("*")
            if path.suffix in self.endings
            and "node_modules" not in path.parts  # Fetched by a test.
            and not any(path.is_relative_to(each) for each in left_out)
        )
        return sum(path.read_bytes().count(b"\n") for path in files)

    def __str__(self) -> str:
        return f"{self.folder} ({', '.join(self.endings)})"


BUDGET = (
    Part("config", (".py",), 2_960),
    Part("importer/engine", (".py",), 44_850),
    Part("importer/engine", (".c", ".h"), 2_578),
    Part("importer", (".py",), 44_126, without=("importer/engine",)),
    Part("dashboard", (".py",), 21_885),
    Part("millrace_client", (".py",), 1_207),
    Part("templates", (".html", ".txt"), 4_933),
    Part("static", (".js", ".css"), 6_786, without=("static/vendor",)),
    Part("bench", (".py", ".c"), 11_408),
    Part("scripts", (".py", ".sh"), 917),
    Part("tests", (".py", ".js", ".ts", ".go"), 89_400),
)


def main() -> None:
    for part in BUDGET:
        print(f"{part.lines():>8,} of {part.ceiling:>8,}  {part}")


if __name__ == "__main__":
    main()
