"""Each reason completes "..., because": so a comparison of imports says it, of both kinds of servers."""

import re
from dataclasses import replace

import pytest

from importer.engine.plan.options import Options
from importer.engine.schema.indexes import Indexes, KeyDefinition
from importer.engine.schema.table import Key
from importer.engine.units import GIB, MIB
from tests.engine.plan.test_previous_imports import CLEAR
from tests.engine.planner.test_planner import column, plan, server, table

MARIADB = server(innodb_buffer_pool_size=str(128 * MIB))
SERVERS = {"MariaDB": MARIADB, "MySQL": replace(MARIADB, flavour="MySQL", version="8.4.2")}
KEYED = table(column("a"), keys=(Key("PRIMARY", ("a",), True), Key("k", ("a",), False)))
EMPTY = Indexes(keys=(KeyDefinition("k", "KEY `k` (`a`)"),), empty=True)
KEYLESS = table(name="Orders")
# The options whose reasons a comparison shows as causes.
CAUSES = ("method", "parallelism", "chunk_bytes", "commit_rows", "sort", "indexes", "foreign_keys")
# Words that begin a clause without a subject.
NO_SUBJECT = re.compile(r"(?:^|; )(?:can|cannot|back|measured|takes|costs|half|spares|once|whether|which)\b")
PLANS = {
    "large": {"of": KEYED, "indexes": EMPTY},
    "small": {"size": MIB // 2, "of": KEYED, "indexes": EMPTY},
    "packed": {"of": KEYED, "packing": "gzip"},
    "without a key": {"of": KEYLESS},
    "faster before": {"past": CLEAR},
    "remote": {"on": {"local": False}},
    "without LOCAL": {"on": {"refused": True}},
    "in chunks": {"options": Options(on_error="reject")},
    "deferred": {"of": KEYED, "indexes": EMPTY, "options": Options(indexes="defer", foreign_keys="defer")},
    "replaced": {"of": KEYED, "indexes": EMPTY, "options": Options(mode="replace")},
    "in order": {"of": KEYED, "options": Options(on_duplicate="skip")},
}


@pytest.mark.parametrize("flavour", SERVERS)
@pytest.mark.parametrize("name", PLANS)
def test_a_reason_is_a_clause_with_a_subject(flavour: str, name: str):
    given = dict(PLANS[name])
    on = replace(SERVERS[flavour], **given.pop("on", {}))
    made = plan(given.pop("size", GIB), on=on, **given)
    causes = [each for each in made.reasons if each.option in CAUSES]
    assert {"method", "parallelism", "sort"} <= {each.option for each in causes}
    for each in causes:
        assert not NO_SUBJECT.search(each.why), f"{each.choice}, because {each.why}"
        one = each.choice.startswith("One chunk of")
        assert not (one and re.search(r"\b(?:they|each)\b", each.why)), f"{each.choice}, because {each.why}"
