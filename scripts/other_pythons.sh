#!/usr/bin/env bash
# Runs the tests of what depends on Python itself (records, formats, reading, doors) on other Pythons than that of .venv:
# the system's own, that of the path, and the newest supported one that is here. Each gets an environment of its own, such
# as .venv-3.13.0. Each test runs on one of them, as the seed chooses: all on each takes as many runs, or ARGS=--every-case.
#
# PYTHONS  the Pythons to run on, instead of those found
# ARGS     options of pytest, such as --case-seed=7
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

# The Pythons to run on, each version once, without that of .venv, on which all tests run.
others() {
  local known python version
  known=$(version_of .venv/bin/python)
  for python in ${PYTHONS:-/usr/bin/python3 python3 $(newest)}; do
    version=$(version_of "$python") || { echo "Left out: $python does not run." >&2; continue; }
    case " $known " in
      *" $version "*) echo "Left out: $python is $version, on which the tests run anyway." >&2 ;;
      *) known+=" $version"; echo "$python" ;;
    esac
  done
}

# Runs a share of the tests, such as 1/2, on a Python.
run_on() {
  local version venv
  version=$(version_of "$1") venv=.venv-$version
  VENV=$venv PYTHON=$1 scripts/setup.sh tests
  echo "On Python $version:"
  # shellcheck disable=SC2086 # ARGS are words
  "$venv/bin/python" -m pytest -q -p no:schemathesis -m "not thorough" --hypothesis-profile=dev --case-seed="$seed" --share="$2" \
    tests/engine/source/records tests/engine/source/formats tests/reading/test_cases.py tests/importer/formats/test_doors.py \
    ${ARGS:-}
}

seed=$RANDOM
mapfile -t pythons < <(others)
for index in "${!pythons[@]}"; do run_on "${pythons[$index]}" "$((index + 1))/${#pythons[@]}"; done
