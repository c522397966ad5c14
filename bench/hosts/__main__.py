"""Prints the table of docs/operations.md: throughput against hosts, up to the ceiling of a server.

python -m bench.hosts

Two people load two large files each into one server, with hosts of two slots. A chunk takes a session
CHUNK_SECONDS while at most SERVER_SESSIONS load; more sessions do not make the server faster.
"""

import os
import tempfile
from random import Random

CHUNKS, SLOTS = 800, 2
CHUNK_SECONDS, SERVER_SESSIONS, CEILING = 0.5, 24, 32
HOSTS = (1, 2, 4, 8, 12, 16, 24, 50)


def main() -> None:
    """Simulate each number of hosts, in a database of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VAR_DIR"], os.environ["DJANGO_SETTINGS_MODULE"] = folder, "config.settings"
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        print("| hosts | slots | sessions at most | chunks per second | of the ideal |")
        print("|--:|--:|--:|--:|--:|")
        for hosts in HOSTS:
            print(_row(hosts))


def _row(hosts: int) -> str:
    """A line of the table. The ideal: every slot loads all the time, up to what the server can take."""
    ideal = min(hosts * SLOTS, SERVER_SESSIONS) / CHUNK_SECONDS
    rate, most = _simulated(hosts)
    return f"| {hosts} | {hosts * SLOTS} | {most} | {rate:.0f} | {rate / ideal:.0%} |"


def _simulated(hosts: int) -> tuple[float, int]:
    """Chunks per second, and the most sessions at once."""
    from django.contrib.auth.models import User
    from django.db import transaction

    from bench.hosts.simulation import Chances, Simulation, make_import
    from importer.models import Target

    most = 0

    def look(simulation: Simulation) -> None:
        nonlocal most
        most = max(most, len(simulation.loading()))

    def seconds(random: Random, loading: int) -> float:
        return CHUNK_SECONDS * random.uniform(0.8, 1.2) * max(1, loading / SERVER_SESSIONS)

    with transaction.atomic():
        target = Target.objects.create(name="server", host="127.0.0.1", user="u", database="s", ceiling=CEILING)
        for name in ("ann", "bob"):
            person = User.objects.create_superuser(name)
            for number in range(2):
                make_import(target, person, f"{name}{number}", CHUNKS, CEILING)
        took = Simulation(hosts, SLOTS, seconds, Chances(), look).run()
        transaction.set_rollback(True)
    return 4 * CHUNKS / took, most


if __name__ == "__main__":
    main()
