"""What the application itself makes an import wait for: people, other imports, workers, bytes."""

from importer.engine.mysql.diagnosis.blockers import find_block
from importer.engine.mysql.diagnosis.cause import Cause, Evidence, Explanation
from importer.engine.units import count_of, human_bytes

# A worker that is free takes work within less.
LONGEST_QUEUED = 2.0  # seconds
STANDSTILL = 10.0  # seconds without a byte that moves
# Hosts that keep one time differ by less.
LEAST_AHEAD = 10.0  # seconds
SOON_FREE = "The import continues when one of them is free, within about a minute. More workers load more in parallel."
OF_LOW_PRIORITY = "Its priority is low: it continues when no other import waits for workers."


def paused(evidence: Evidence) -> Explanation | None:
    """Somebody has paused it."""
    if evidence.facts.status != "paused":
        return None
    return Explanation("paused", "Somebody has paused the import.", "No further chunk starts.", "Resume the import.")


def approval(evidence: Evidence) -> Explanation | None:
    """The target needs another person's approval."""
    if evidence.facts.status != "unapproved":
        return None
    return Explanation(
        "approval",
        "The import waits for the approval of another person.",
        "The target asks for it; nothing is written before.",
        "Ask somebody who may load into the table.",
    )


def other_import(evidence: Evidence) -> Explanation | None:
    """Another import has the table."""
    facts = evidence.facts
    if not facts.owner:
        return None
    return Explanation(
        "other_import",
        f"Import {facts.owner} has the table {facts.full_name}: one import loads into a table at a time.",
        advice=f"This one begins when import {facts.owner} has ended.",
    )


def upload(evidence: Evidence) -> Explanation | None:
    """It has loaded all that has arrived of its file."""
    facts = evidence.facts
    if not facts.size or facts.sessions.running or facts.sessions.pending or facts.status != "loading":
        return None
    return Explanation(
        "upload",
        "The import waits for bytes of the upload.",
        f"{human_bytes(facts.arrived)} of {human_bytes(facts.size)} have arrived, and are scanned.",
        "Keep the page of the upload open.",
    )


def newer_release(evidence: Evidence) -> Explanation | None:
    """A newer release has planned it, and only workers of an older one run."""
    older = evidence.facts.workers.older
    if not older:
        return None
    return Explanation(
        "newer_release",
        "The import waits for workers of a newer release.",
        f"A newer release has planned it, and leaves nothing of it to older workers: {', '.join(older)}.",
        "It continues by itself once the workers are updated.",
    )


def left_to_command(evidence: Evidence) -> Explanation | None:
    """Nobody works on it who has the server's password."""
    facts = evidence.facts
    if not facts.left_to_command:
        return None
    store = f" Or store it on the page of target {facts.target}: then the workers continue." if facts.registered else ""
    return Explanation(
        "left_to_command",
        "The import waits for the command that has the server's password.",
        "The password is stored nowhere, so that the running workers leave the import alone.",
        f"If the command has ended, this one continues: millrace job run {facts.number}{'.' if store else ''}{store}",
    )


def no_worker(evidence: Evidence) -> Explanation | None:
    """No worker runs that would take its next work."""
    workers = evidence.facts.workers
    if (workers.seconds or 0) < LONGEST_QUEUED or workers.served is not False:
        return None
    if workers.label:
        return Explanation(
            "no_worker",
            f"No worker with the label {workers.label} is running that would take the import's next work.",
            f"The target {evidence.facts.target} is loaded by workers with this label only. None gives a sign of life.",
            f"Start workers with LOADS={workers.label}, or change the label on the target's page.",
        )
    return Explanation(
        "no_worker",
        "No worker is running that would take the import's next work.",
        "No such worker has been heard of for 20 s.",
        "Start the workers, or ask an admin: the page /readyz says what is missing.",
    )


def no_process(evidence: Evidence) -> Explanation | None:
    """The command that loaded it has ended before it, and no worker runs."""
    facts = evidence.facts
    somebody = facts.owner or facts.left_to_command or evidence.own
    if facts.silent_since is None or somebody or no_worker(evidence):
        return None
    return Explanation(
        "no_process",
        "No process loads the import.",
        f"The last sign of life is of {facts.silent_since:%Y-%m-%d %H:%M:%S} UTC. Its records may be behind its table.",
        f"This command continues it: millrace job run {facts.number}",
    )


def clock(evidence: Evidence) -> Explanation | None:
    """The clock was set back, or the clocks of hosts differ."""
    ahead = evidence.facts.ahead
    if ahead < LEAST_AHEAD:
        return None
    return Explanation(
        "clock",
        "The clock was set back, or the clocks of hosts differ.",
        f"The import's last record is {ahead:,.0f} s ahead of this host's clock.",
        "What a process has left is taken over within about a minute all the same. Let all hosts keep one time (NTP).",
        waits=False,
    )


def workers_busy(evidence: Evidence) -> Explanation | None:
    """All workers work for other imports."""
    workers, sessions = evidence.facts.workers, evidence.facts.sessions
    waited = workers.seconds or 0
    if waited < LONGEST_QUEUED or not workers.served or workers.taken < max(1, workers.places) or sessions.running:
        return None
    return Explanation(
        "workers_busy",
        "All workers are busy with other imports.",
        f"They load {count_of(workers.taken, 'chunk')} in parallel, which is all they can; this import's next"
        " work has waited for"
        f" {waited:.0f} s.",
        OF_LOW_PRIORITY if evidence.facts.low else SOON_FREE,
    )


def ceiling(evidence: Evidence) -> Explanation | None:
    """The target takes no more parallel chunks."""
    sessions = evidence.facts.sessions
    reached = sessions.pending and sessions.running < sessions.asked and sessions.on_target >= sessions.ceiling
    if evidence.facts.status != "loading" or not reached:
        return None
    others = sessions.on_target - sessions.running
    taken = f", {others} of them by other imports" if others > 0 else ""
    return Explanation(
        "ceiling",
        f"Target {evidence.facts.target} takes at most {sessions.ceiling} parallel chunks.",
        f"{sessions.on_target} load into it now{taken}; this import asks for {sessions.asked} and has"
        f" {sessions.running}.",
        OF_LOW_PRIORITY
        if evidence.facts.low and not sessions.running
        else "Max. parallel chunks on the target's page raises it, if the server has processors to spare.",
        waits=not sessions.running,
    )


def few_workers(evidence: Evidence) -> Explanation | None:
    """The workers cannot load as many chunks in parallel as it asks for."""
    sessions, workers = evidence.facts.sessions, evidence.facts.workers
    full = 0 < workers.places < sessions.asked and sessions.running >= workers.places
    if evidence.facts.status != "loading" or not (full and sessions.pending):
        return None
    return Explanation(
        "few_workers",
        f"The running workers load at most {count_of(workers.places, 'chunk')} in parallel; the import asks for"
        f" {sessions.asked}.",
        f"{sessions.running} are loading, {sessions.pending:,} wait.",
        "Start more workers, or let each load more in parallel.",
        waits=False,
    )


def full_disk(evidence: Evidence) -> Explanation | None:
    """A disk of this machine is full."""
    if not evidence.facts.full_disk:
        return None
    return Explanation(
        "full_disk",
        "A disk of this machine is full: no working copies and no rejected rows can be written.",
        evidence.facts.full_disk,
        "Make room on it; the page Storage shows what needs it.",
    )


def standstill(evidence: Evidence) -> Explanation | None:
    """Nothing moves, and the server does not show why."""
    facts, snapshot = evidence.facts, evidence.snapshot
    if facts.still < STANDSTILL or find_block(evidence):
        return None
    running = [each for each in evidence.own if not each.idle]
    shown = "; ".join(f"connection {each.id}: {each.state or each.command}, {each.seconds} s" for each in running)
    unseen = snapshot.missing if snapshot else ()
    return Explanation(
        "standstill",
        f"Nothing has moved for {facts.still:.0f} s: the server has rows of the import, and does not answer.",
        f"What this account sees of it: {shown or 'no connection of the import that does something'}.",
        "Perhaps another connection holds a lock. This account does not see transactions and locks of others. To see"
        f" who holds it: {'; '.join(unseen)}. The next look takes notice of it."
        if unseen
        else "Look at what the server does; the import continues by itself when it answers.",
    )


CAUSES = tuple(
    Cause(each.__name__, each)
    for each in (
        paused,
        approval,
        other_import,
        newer_release,
        left_to_command,
        no_worker,
        no_process,
        clock,
        workers_busy,
        upload,
        full_disk,
        ceiling,
        few_workers,
        standstill,
    )
)
