"""`millrace --server URL check`: the server reads the whole file, and loads nothing."""

from importer.management.client.check_text import check_lines
from importer.management.client.commands.files import Uploads
from importer.management.client.commands.load import wanted_of
from importer.management.client.commands.work import Work
from importer.management.client.report_text import questions


def run(work: Work) -> int:
    """Print the rows that could not be loaded, or the questions about the file."""
    uploads = Uploads(work.millrace, work.output.as_json)
    try:
        found = work.millrace.call("check", wanted_of(work, uploads))
    finally:
        uploads.remove()
    work.output.give_whole(found)
    if found["problem"]:
        for line in questions(found):
            work.output.warn(line)
    else:
        for line in check_lines(found):
            work.output.say(line)
    return int(found["exit_code"])
