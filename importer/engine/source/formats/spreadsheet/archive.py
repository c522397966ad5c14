"""The parts of a workbook, which is a ZIP archive of XML files."""

import xml.etree.ElementTree as ElementTree  # expat opens no other file and limits entities
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO
from xml.parsers import expat

from importer.engine.errors import SourceProblem
from importer.engine.source.archives import BoundedZip
from importer.engine.source.compression import DecompressionLimits, require_within
from importer.engine.source.formats.contents import Contents
from importer.engine.units import MIB

READ_BYTES = 128 * 1024
# A part that is read as a whole: the list of sheets, the styles. The second limit is for all of them.
MOST_SMALL_BYTES, MOST_SMALL_BYTES_TOGETHER = 16 * MIB, 32 * MIB
_AGAIN = "Copy or download the file again, or save it again in its program."


class Parts(BoundedZip):
    """The parts of an open workbook. `files` is closed with it."""

    most = 10_000  # with pictures; there are two for each sheet
    bytes_of_each = 256
    too_many = "The workbook has more than {:,} parts, or their names are very long."
    fewer = "Save the sheet to import as a workbook of its own, without pictures."

    def __init__(self, file: BinaryIO, limits: DecompressionLimits) -> None:
        self.files = ExitStack()
        super().__init__(file)
        self._limits = limits
        self._small = 0
        self._unpacked = self._used = 0
        self._before: dict[str, tuple[int, int]] = {}

    def close(self) -> None:
        self.files.close()
        super().close()

    def tree(self, name: str) -> ElementTree.Element:
        """A small part as a whole; an empty element if the workbook does not have it.

        Raises SourceProblem if it is large, or all small parts together are.
        """
        if name not in self.NameToInfo:
            return ElementTree.Element("none")
        size = self.getinfo(name).file_size
        if size > MOST_SMALL_BYTES:
            raise SourceProblem(
                f"The part {name} of the workbook has more than {MOST_SMALL_BYTES:,} bytes.", advice=_AGAIN
            )
        self._small += size
        if self._small > MOST_SMALL_BYTES_TOGETHER:
            raise SourceProblem(
                f"The workbook's sheet list, styles and relations have more than {MOST_SMALL_BYTES_TOGETHER:,} bytes.",
                advice=self.fewer,
            )
        return ElementTree.fromstring(self.read(name))  # noqa: S314

    def pieces(self, name: str) -> Iterator[tuple[bytes, int]]:
        """The bytes of a large part, and how many bytes of the archive have been read of it.

        Raises SourceProblem if the parts that have been read, each counted once, exceed the limits.
        """
        info, total = self.getinfo(name), 0
        unpacked, packed = self._before.setdefault(name, (self._unpacked, self._used))
        with self.open(info) as part:
            while data := part.read(READ_BYTES):
                total += len(data)
                used = info.compress_size * total // max(1, info.file_size)
                self._unpacked, self._used = max(self._unpacked, unpacked + total), max(self._used, packed + used)
                require_within(self._limits, unpacked + total, max(1, packed + used))
                yield data, used


@contextmanager
def opened(contents: Contents) -> Iterator[Parts]:
    """The parts of a workbook. Raises SourceProblem if it is cut or damaged."""
    with contents.file() as file:
        try:
            with Parts(file, contents.limits) as parts:
                yield parts
        except (zipfile.BadZipFile, zlib.error, EOFError, ElementTree.ParseError, expat.ExpatError) as error:
            raise SourceProblem(f"The workbook is cut or damaged: {error}.", advice=_AGAIN) from error
        except (ValueError, LookupError) as error:  # a number or a reference of a cell that is none
            raise SourceProblem(f"The workbook is damaged: {error}.", advice=_AGAIN) from error
        except NotImplementedError as error:
            raise SourceProblem(f"The workbook is packed in an unusual way: {error}.", advice=_AGAIN) from error
        except RuntimeError as error:  # zipfile's error for an encrypted member
            raise SourceProblem("The workbook has a password.", advice="Save it without one.") from error


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


def _refuse_entity(name: str, *_of: object) -> int:
    """Refuse a text that the workbook does not have itself, but takes from an entity of another file."""
    raise SourceProblem(
        f"The workbook takes a text from another file, by the entity &{name};, and no other file is read.",
        advice="Write the text into the cell, and save the workbook again.",
    )


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
        # Without these, the parser leaves out the text of such an entity.
        self._parser.ExternalEntityRefHandler = self._parser.SkippedEntityHandler = _refuse_entity

    def each(self, parts: Parts, name: str) -> Iterator[tuple[list[Any], int]]:
        """What was found in each piece of the part, and how many bytes of the archive have been read of it.

        Raises SourceProblem as Parts.pieces() does.
        """
        used = 0
        for data, used in parts.pieces(name):
            self._parser.Parse(data, False)
            found, self.found = self.found, []
            yield found, used
        self._parser.Parse(b"", True)
        yield self.found, used
