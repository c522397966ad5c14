"""The parts of a workbook, which is a ZIP archive of XML files."""

import xml.etree.ElementTree as ElementTree  # expat opens no other file and limits entities
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from xml.parsers import expat

from importer.engine.errors import SourceProblem
from importer.engine.source.compression import DecompressionLimits, require_within
from importer.engine.source.formats.contents import Contents
from importer.engine.units import MIB

READ_BYTES = 128 * 1024
# A part that is read as a whole: the list of sheets, the styles.
MOST_SMALL_BYTES = 16 * MIB
_AGAIN = "Copy or download the file again, or save it again in its program."


@contextmanager
def opened(contents: Contents) -> Iterator[zipfile.ZipFile]:
    """The archive of a workbook. Raises SourceProblem if it is cut or damaged."""
    with contents.file() as file:
        try:
            with zipfile.ZipFile(file) as archive:
                yield archive
        except (zipfile.BadZipFile, zlib.error, EOFError, ElementTree.ParseError, expat.ExpatError) as error:
            raise SourceProblem(f"The workbook is cut or damaged: {error}.", advice=_AGAIN) from error
        except (ValueError, LookupError) as error:  # a number or a reference of a cell that is none
            raise SourceProblem(f"The workbook is damaged: {error}.", advice=_AGAIN) from error
        except NotImplementedError as error:
            raise SourceProblem(f"The workbook is packed in an unusual way: {error}.", advice=_AGAIN) from error
        except RuntimeError as error:  # zipfile's error for an encrypted member
            raise SourceProblem("The workbook has a password.", advice="Save it without one.") from error


def tree(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    """A small part as a whole; an empty element if the workbook does not have it. A large one raises SourceProblem."""
    if name not in archive.NameToInfo:
        return ElementTree.Element("none")
    if archive.getinfo(name).file_size > MOST_SMALL_BYTES:
        raise SourceProblem(f"The part {name} of the workbook has more than {MOST_SMALL_BYTES:,} bytes.", advice=_AGAIN)
    return ElementTree.fromstring(archive.read(name))  # noqa: S314


def local(tag: str) -> str:
    """The name of an element or attribute without its namespace."""
    return tag.rpartition("}")[2]


def children(element: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    """The elements of this name anywhere below, in any namespace: there are two of each in Office Open XML."""
    return (each for each in element.iter() if local(each.tag) == name)


def children_of(element: ElementTree.Element, parent: str, name: str) -> list[ElementTree.Element]:
    """The elements of this name below the first one of the parent's name."""
    found = next(children(element, parent), None)
    return [] if found is None else list(children(found, name))


def attribute(element: ElementTree.Element, name: str) -> str:
    """An attribute in any namespace; "" if it is missing."""
    return next((value for key, value in element.attrib.items() if local(key) == name), "")


class XmlStream:
    """Parses a large part in pieces; `each()` gives what the handlers have put into `found` after each piece.

    The handlers get names of elements with their prefix.
    """

    def __init__(
        self,
        start: Callable[[str, dict[str, str]], None],
        end: Callable[[str], None],
        text: Callable[[str], None],
    ) -> None:
        self.found: list[Any] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler, self._parser.EndElementHandler = start, end
        self._parser.CharacterDataHandler = text

    def each(self, archive: zipfile.ZipFile, name: str, limits: DecompressionLimits) -> Iterator[tuple[list[Any], int]]:
        """What was found in each piece of the part, and how many bytes of the archive have been read of it.

        Raises SourceProblem if the part exceeds the limits.
        """
        info, total = archive.getinfo(name), 0
        with archive.open(info) as part:
            while data := part.read(READ_BYTES):
                total += len(data)
                used = info.compress_size * total // max(1, info.file_size)
                require_within(limits, total, max(1, used))
                self._parser.Parse(data, False)
                found, self.found = self.found, []
                yield found, used
        self._parser.Parse(b"", True)
        yield self.found, info.compress_size
