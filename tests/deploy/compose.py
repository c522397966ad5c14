"""docker-compose.yml as Compose reads it, and its commands on this machine instead of in containers."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.stack import ROOT

FILE = ROOT / "docker-compose.yml"
# The Compose Specification, Interpolation: $$, ${NAME}, ${NAME:-default}, ${NAME:?error}.
VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?:(?P<kind>:[-?])(?P<other>(?:[^{}]|\$\{[^}]*\})*))?\})")


class Missing(Exception):
    """A variable without a value and a default."""


def interpolated(value: Any, variables: Mapping[str, str]) -> Any:
    """A value of the file with its variables replaced, in texts at any depth."""
    if isinstance(value, dict):
        return {name: interpolated(each, variables) for name, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each, variables) for each in value]

    def replaced(match: re.Match[str]) -> str:
        if match["dollar"]:
            return "$"
        if given := variables.get(match["name"], ""):
            return given
        if match["kind"] == ":?":
            raise Missing(f"{match['name']} {match['other']}")
        return interpolated(match["other"] or "", variables)

    return VARIABLE.sub(replaced, value) if isinstance(value, str) else value


def services(variables: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """The services; without variables as they are written."""
    read = yaml.safe_load(FILE.read_text())["services"]
    found: dict[str, dict[str, Any]] = read if variables is None else interpolated(read, variables)
    return found


class Containers:
    """Commands of the services, as processes of this machine: `here` replaces texts that name places in containers."""

    def __init__(self, variables: Mapping[str, str], here: Mapping[str, str]) -> None:
        self._services, self._here = services(variables), here

    def environment(self, service: str) -> dict[str, str]:
        own = {name: self._moved(str(value)) for name, value in self._services[service].get("environment", {}).items()}
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return inherited | own

    def run(self, service: str) -> subprocess.CompletedProcess[str]:
        """The service's command, to its end."""
        line, environment = self.command(service), self.environment(service)
        return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True)

    def command(self, service: str) -> list[str]:
        return self._moved_line(self._services[service]["command"])

    def is_healthy(self, service: str) -> bool:
        """Whether the service's health check succeeds."""
        kind, *rest = self._services[service]["healthcheck"]["test"]
        line = self._moved_line(["sh", "-c", *rest] if kind == "CMD-SHELL" else rest)
        return subprocess.run(line, cwd=ROOT, env=self.environment(service), capture_output=True).returncode == 0

    def entered(self, service: str, path: Path) -> subprocess.CompletedProcess[str]:
        """The service's own entrypoint, with the programs in the folder `path` before others."""
        environment = self.environment(service)
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
        return subprocess.run(self._services[service]["entrypoint"], env=environment, capture_output=True, text=True)

    def _moved_line(self, line: list[str]) -> list[str]:
        """A word may become several, between NULs."""
        return [word for each in line for word in self._moved(each).split("\0")]

    def _moved(self, text: str) -> str:
        """The text with each name replaced once, a longer one before one that it contains."""
        names = "|".join(re.escape(each) for each in sorted(self._here, key=len, reverse=True))
        return re.sub(names, lambda found: self._here[found[0]], text) if names else text
