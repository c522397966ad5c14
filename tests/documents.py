"""The JSON documents of commands and webhooks, checked against docs/schemas wherever a test sees one."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.core.management.base import CommandError
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"
SCHEMAS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
# Then a command prints its help or the version.
NO_DOCUMENT = {"--help", "-h", "--help-all", "--version"}


@cache
def _registry() -> Registry:
    return Registry().with_resources([(schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()])


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(SCHEMAS[name], registry=_registry(), format_checker=FormatChecker())


def read(printed: str | bytes) -> dict[str, Any]:
    """The one document that was printed, after a check against the schema that it names."""
    document = json.loads(printed)
    assert isinstance(document, dict), printed
    name = document["schema"].removeprefix("millrace.").partition("/")[0]
    _validator(name).validate(document)
    return document


def check_output(line: Sequence[str], printed: str) -> None:
    """Check what a command line has printed, if it asks for JSON: exactly one document."""
    if "--json" in line and not NO_DOCUMENT & set(line):
        read(printed)


@contextmanager
def all_checked() -> Iterator[None]:
    """Inside the block, check each document that a command is about to print, and each report, of this process.

    A command that fails without --json is checked, too: for the document that it would have printed.
    """
    # Django must be ready first.
    from importer.jobs import report
    from importer.management.command_line.remote.output import Output
    from importer.management.terminal import one_document

    DocumentCommand = one_document.DocumentCommand
    given, complete, documented = DocumentCommand.give_parts, report.complete, DocumentCommand._documented
    given_by_client = Output.give_whole

    def completed(*args: Any) -> dict[str, Any]:
        made = complete(*args)
        read(json.dumps(made))
        return made

    def checked(command: DocumentCommand, parts: Any) -> None:
        whole = "".join(parts)
        read(whole)
        given(command, (whole,))

    def failing(command: DocumentCommand, args: tuple[Any, ...], options: dict[str, Any]) -> str | None:
        try:
            return documented(command, args, options)
        except CommandError as error:
            if not options.get(one_document.DEST):
                problem = one_document._problem_of(error)
                read(json.dumps(command.document_of_problem(problem, error.returncode, options)))
            raise

    def checked_of_client(output: Output, document: Any) -> None:
        read(json.dumps(document))
        given_by_client(output, document)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DocumentCommand, "give_parts", checked)
        patched.setattr(DocumentCommand, "_documented", failing)
        patched.setattr(Output, "give_whole", checked_of_client)
        patched.setattr(report, "complete", completed)
        yield
