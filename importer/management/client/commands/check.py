"""`millrace --server URL check`: the server reads the whole file, and loads nothing."""

from importer.management.client.commands.context import CommandContext
from importer.management.client.commands.files import Uploads
from importer.management.client.commands.load import wanted_of
from importer.management.terminal.check_text import check_lines
from importer.management.terminal.report_text import questions


def run(context: CommandContext) -> int:
    """Print the rows that could not be loaded, or the questions about the file."""
    uploads = Uploads(context.millrace, context.output.as_json)
    try:
        found = context.millrace.call("check", wanted_of(context, uploads))
    finally:
        uploads.remove()
    context.output.give_whole(found)
    if found["problem"]:
        for line in questions(found):
            context.output.warn(line)
    else:
        for line in check_lines(found):
            context.output.say(line)
    return int(found["exit_code"])
