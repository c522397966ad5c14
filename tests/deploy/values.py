"""The chart's files, as tests read them: values, examples, schema, and what Helm makes of them."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.stack import ROOT

CHART = ROOT / "deploy" / "helm" / "millrace"
EXAMPLES = sorted((CHART / "examples").glob("*.yaml"))
# Where scripts/chart_tools.sh puts the programs that it makes.
TOOLS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "millrace" / "tools"

Values = dict[str, Any]


def tool(name: str) -> str | None:
    """The path of a program that `make chart` installs, or that is on PATH; None without it."""
    return shutil.which(name, path=f"{TOOLS}{os.pathsep}{os.environ['PATH']}")


def read(path: Path) -> Values:
    values: Values = yaml.safe_load(path.read_text())
    return values


def merged(below: Values, above: Values) -> Values:
    """Values as Helm merges them: a map is merged, everything else is replaced."""
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(value, dict) and isinstance(old, dict) else value
    return result


def all_values(example: Path) -> Values:
    """The values of an installation with this example."""
    return merged(read(CHART / "values.yaml"), read(example))


def schema() -> Values:
    content: Values = json.loads((CHART / "values.schema.json").read_text())
    return content


# Helm renders for the newest version whose schemas `make chart` installs.
KUBERNETES = "1.37"


def helm(*arguments: str, chart: Path = CHART) -> subprocess.CompletedProcess[str]:
    """`helm template` of the chart, as the release `millrace` in the namespace `imports`."""
    program = tool("helm")
    assert program
    command = [program, "template", "millrace", str(chart), "--namespace", "imports", "--kube-version", KUBERNETES]
    return subprocess.run([*command, *arguments], capture_output=True, text=True)


def rendered(example: Path, *arguments: str, chart: Path = CHART) -> list[Values]:
    """The objects that Helm makes with the example."""
    done = helm("--values", str(example), *arguments, chart=chart)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]
