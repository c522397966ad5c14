"""A lab that real workers take on, and what must hold of it at its end."""

from pathlib import Path

from django.conf import settings

from importer import lab
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.engine.tuning.sampling import Sample
from importer.models import ImportJob, Lab, SourceFile
from tests.engine.loads import run_sql
from tests.importer.labs import created_lab, now, tables, whole_target
from tests.stack import wait_until
from tests.targets import saved_target

TABLE = """CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80) NOT NULL, amount INT NOT NULL, p INT,
  KEY word (word), KEY p (p))"""
ROWS = 10_000


class Trying:
    """The lab, and the database in which it makes its scratch tables."""

    def __init__(self, of: Lab, address: Address) -> None:
        self.lab, self.address = of, address
        self._before = whole_target(address)

    def start(self) -> None:
        lab.start(self.lab.pk)

    def now(self) -> Lab:
        return now(self.lab)

    def scratch_is_there(self) -> bool:
        return tables(self.address) != {"t"}

    def loads(self) -> bool:
        """Whether a trial's import is under way, with rows in its table."""
        return ImportJob.objects.filter(trial__lab=self.lab, loaded_rows__gt=0, finished_at=None).exists()

    def ends(self, *statuses: str) -> Lab:
        """The lab, ended in one of these ways, and nothing of it left anywhere."""
        wait_until(lambda: self.now().ended, seconds=180, what="the lab's end")
        ended = self.now()
        assert ended.status in statuses, (ended.status, ended.problem, list(ended.trials.values()))
        assert whole_target(self.address) == self._before
        assert not ImportJob.objects.filter(trial__lab=self.lab).exists()
        assert not SourceFile.objects.filter(path__startswith=str(settings.LAB_DIR / str(self.lab.key))).exists()
        wait_until(lambda: not list(settings.LAB_DIR.glob(f"{self.lab.key}*")), what="no sample left")
        return ended


def planned(address: Address, path: Path) -> Trying:
    """A new table, and a lab that is not started."""
    run_sql(address, TABLE)
    values = {"indexes": ("keep", "defer")}
    # Each trial changes a setting of the whole server, and restores it.
    options = Options(server_variables={"innodb_flush_log_at_trx_commit": "2"})
    of = created_lab(saved_target(address, address.database), path, values, options, sample=Sample(rows=ROWS))
    return Trying(of, address)
