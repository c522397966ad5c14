"""Help in two lengths: the options that most imports need on one screen, or all of them."""

import argparse
from collections.abc import Mapping
from typing import Any

WIDTH = 80  # characters of a line
LONGEST_LIST = 12  # characters of the answers of an option, to stand behind it


class ShortHelp(argparse.Action):
    """Prints the usage, the options of `common` with these texts, and the examples, and ends."""

    def __init__(self, option_strings: list[str], common: Mapping[str, str], **_: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="the options that most imports need")
        self._common = common

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(self.page(parser), end="")
        parser.exit()

    def page(self, parser: argparse.ArgumentParser) -> str:
        """The page of help."""
        page = argparse.RawDescriptionHelpFormatter(parser.prog, max_help_position=28, width=WIDTH)
        page.add_usage(parser.usage, [], [])
        page.add_text(parser.description)
        page.start_section("options that most imports need")
        page.add_arguments([_with_help(_action(parser, flag), flag, text) for flag, text in self._common.items()])
        page.end_section()
        page.add_text(parser.epilog)
        page.add_text(f"All options, in groups: {parser.prog} --help-all")
        return page.format_help()


class LongHelp(argparse.Action):
    """Prints the help with all options, and ends."""

    def __init__(self, option_strings: list[str], **_: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="all options")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        parser.print_help()
        parser.exit()


def add_help(parser: argparse.ArgumentParser, common: Mapping[str, str]) -> None:
    """Add --help and --help-all to a parser without help. `common`: a text for each flag of the short one."""
    parser.add_argument("-h", "--help", action=ShortHelp, common=common)
    parser.add_argument("--help-all", action=LongHelp)


def _action(parser: argparse.ArgumentParser, flag: str) -> argparse.Action:
    return parser._option_string_actions[flag]


def _with_help(action: argparse.Action, flag: str, text: str) -> argparse.Action:
    """The action as help shows it: with one flag and this text."""
    return argparse.Action([flag], action.dest, nargs=action.nargs, metavar=_metavar(action), help=text)


def _metavar(action: argparse.Action) -> str | tuple[str, ...] | None:
    if isinstance(action.metavar, str):
        return action.metavar.partition("[")[0]
    if action.metavar or action.nargs == 0:
        return action.metavar
    listed = "|".join(map(str, action.choices or ()))
    return listed if 0 < len(listed) <= LONGEST_LIST else action.dest.upper()
