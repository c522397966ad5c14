"""The squashed migration stands for all that were there when it was made, and later ones fit both ways.

That both ways make the same tables is in test_old_database.py and in tests/importer/management/test_backup.py.
"""

from django.db.migrations.loader import MigrationLoader

LOADER = MigrationLoader(None, load=False)
LOADER.load_disk()
OWN = {name: each for (app, name), each in LOADER.disk_migrations.items() if app == "importer"}
SQUASHED = {name for name, each in OWN.items() if each.replaces}


def test_it_replaces_the_first_ones_without_a_gap():
    others = sorted(set(OWN) - SQUASHED)
    for name in SQUASHED:
        replaced = [each for _, each in OWN[name].replaces]
        assert replaced == others[: len(replaced)]
        assert name == f"{replaced[0].partition('_')[0]}_squashed_{replaced[-1]}"


def test_none_depends_on_it():
    """Where an installation of an earlier release takes the replaced ones, it is not there."""
    needed = {name for each in OWN.values() for app, name in each.dependencies if app == "importer"}
    assert SQUASHED
    assert not SQUASHED & needed
