#!/usr/bin/env bash
# Runs the tests of what depends on Python itself (records, formats, reading, doors) on other Pythons than that of .venv:
# the system's own, that of the path, and the newest supported one that is here. Each gets an environment of its own, such
# as .venv-3.13.0.
#
# PYTHONS  the Pythons to run on, instead of those found
set -euo pipefail
cd "$(dirname "$0")/.."

version_of() { "$1" -c 'import platform; print(platform.python_version())' 2>/dev/null; }

# The newest supported Python that is here. Of a version manager's shims many name a Python that is not in use.
newest() {
  local version candidate
  sed -n 's/.*Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml | sort -rV | while read -r version; do
    for candidate in "python$version" "$(pyenv prefix "$(pyenv latest "$version" 2>/dev/null)" 2>/dev/null)/bin/python"; do
      if version_of "$candidate" >/dev/null; then echo "$candidate"; return; fi
    done
    echo "Left out: there is no Python $version here." >&2
  done
}

run_on() {
  local version venv
  version=$(version_of "$1") || { echo "Left out: $1 does not run."; return 0; }
  case " $known " in *" $version "*) echo "Left out: $1 is $version, on which the tests have run."; return 0 ;; esac
  known+=" $version"
  venv=.venv-$version
  VENV=$venv PYTHON=$1 scripts/setup.sh tests
  echo "On Python $version:"
  "$venv/bin/python" -m pytest -q -p no:schemathesis -m "not thorough" --hypothesis-profile=dev \
    tests/engine/source/records tests/engine/source/formats tests/reading/test_cases.py tests/importer/formats/test_doors.py
}

# The versions that need no further run: all other tests run on the first one.
known=$(version_of .venv/bin/python)
for python in ${PYTHONS:-/usr/bin/python3 python3 $(newest)}; do run_on "$python"; done
