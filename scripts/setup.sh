#!/usr/bin/env bash
# Installs the missing requirements of Millrace, after printing them.
#
#   scripts/setup.sh NEED...
#     app       the virtual environment, the tools to compile mysqlclient, and the library of importer/engine/native
#     database  a MariaDB server for the demo and the tests (the programs only: no service is started)
#     browser   Chromium, for the browser tests
#     client    only the database client library, which an installed environment needs to run
#     cluster   the library of a Galera cluster, for the tests of a node
#     link      ip and tc, for the benchmark over a slow link
#
# REQUIREMENTS  the locked requirements to install (requirements-dev.txt)
# VENV          the folder of the virtual environment (.venv)
# PYTHON        the Python to create it with (the first of python3.11, 3.12, 3.13 and python3 that is 3.11 or later)
set -euo pipefail
cd "$(dirname "$0")/.."
requirements=${REQUIREMENTS:-requirements-dev.txt}
venv=${VENV:-.venv}

missing_what=() missing_apt=() missing_dnf=() missing_brew=()

have() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || [ -x "/usr/local/sbin/$1" ]; }

# missing WHAT APT DNF BREW: record a system package, by its name in each package manager ("-": part of another one).
missing() { missing_what+=("$1") missing_apt+=("$2") missing_dnf+=("$3") missing_brew+=("$4"); }

names() { local name; for name in "$@"; do [ "$name" = - ] || printf ' %s' "$name"; done; }

find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3.11 python3.12 python3.13 python3; do
    # Run it: a version manager's shim may exist for a Python that is not installed.
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      echo "$candidate"; return
    fi
  done
}

up_to_date() { "$venv/bin/python" -c '' 2>/dev/null && cmp -s "$requirements" "$venv/installed-$requirements"; }

look_for_python() {
  python=$(find_python)
  [ -n "$python" ] || missing "Python 3.11 or later" "python3 python3-venv python3-dev" "python3.11 python3.11-devel" python@3.11
}

look_for_build_tools() {
  have cc || have gcc || missing "a C compiler (builds mysqlclient and the fast scan)" "gcc libc6-dev" gcc gcc
  have pkg-config || missing "pkg-config (builds mysqlclient)" pkg-config pkgconf-pkg-config pkg-config
  pkg-config --exists libmariadb 2>/dev/null || pkg-config --exists mariadb 2>/dev/null || pkg-config --exists mysqlclient 2>/dev/null ||
    missing "the database client library (builds mysqlclient)" libmariadb-dev mariadb-connector-c-devel mariadb-connector-c
  [ -n "$python" ] || return 0
  local version; version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "$python" -c 'import ensurepip, venv' 2>/dev/null || missing "Python's venv" "python$version-venv" - -
  [ -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] ||
    missing "Python's headers (build mysqlclient)" "python$version-dev" "python$version-devel" -
}

look_for_database() {
  if have mariadbd && have mariadb-install-db; then return; fi
  if have mysqld && ! have mariadbd; then return; fi
  missing "a MariaDB server (private ones; no service is started)" "mariadb-server-core mariadb-client-core" mariadb-server mariadb
}

look_for_cluster() {
  local name
  for name in /usr/lib/galera/libgalera_smm.so /usr/lib64/galera-4/libgalera_smm.so; do [ -e "$name" ] && return; done
  missing "Galera's library (a cluster's node in the tests)" galera-4 galera -
}

look_for_browser() {
  local name
  for name in chromium chromium-browser google-chrome google-chrome-stable; do have "$name" && return; done
  missing "Chromium (browser tests)" chromium chromium chromium
}

look_for_link() {
  if have tc && have ip; then return; fi
  missing "ip and tc (the slow link of the benchmark)" iproute2 iproute-tc -
}

look_for_client() {
  # Not grep -q: it would end ldconfig early, which pipefail treats as a failure.
  ldconfig -p 2>/dev/null | grep 'libmariadb\.so\|libmysqlclient\.so' >/dev/null ||
    missing "the database client library" libmariadb3 mariadb-connector-c mariadb-connector-c
}

install_missing() {
  [ ${#missing_what[@]} -gt 0 ] || return 0
  echo "Missing on this system:"
  printf '  %s\n' "${missing_what[@]}"
  local sudo=
  if ! have apt-get; then
    echo "Install them, and start again:"
    echo "  Fedora, RHEL: dnf install$(names "${missing_dnf[@]}")"
    echo "  macOS:        brew install$(names "${missing_brew[@]}")"
    exit 1
  elif [ "$(id -u)" -ne 0 ]; then
    if have sudo; then sudo=sudo; else
      echo "Neither root nor sudo here. Have them installed, and start again:"
      echo "  apt-get install --no-install-recommends$(names "${missing_apt[@]}")"
      exit 1
    fi
  fi
  echo "Installing with apt-get:$(names "${missing_apt[@]}")"
  local packages; read -ra packages <<<"$(names "${missing_apt[@]}")"
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" </dev/null >/dev/null
}

make_environment() {
  python=$(find_python)
  if [ -z "$python" ]; then
    echo "Millrace needs Python 3.11 or later; here is $(python3 --version 2>&1 || echo none)." >&2
    echo "Install one (apt-get install python3.11 python3.11-venv python3.11-dev), or name it: make setup PYTHON=/path/to/python" >&2
    exit 1
  fi
  echo "Installing $(grep -c == "$requirements") Python packages from $requirements into $venv ($("$python" --version))"
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 || { rm -rf "$venv"; "$python" -m venv "$venv"; }
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$requirements"
  cp "$requirements" "$venv/installed-$requirements"
}

[ $# -gt 0 ] || { sed -n '2,13p' "$0"; exit 2; }
app=
for need in "$@"; do
  case $need in
    app) if ! up_to_date; then app=wanted; look_for_python; look_for_build_tools; fi ;;
    database) look_for_database ;;
    browser) look_for_browser ;;
    cluster) look_for_cluster ;;
    client) look_for_client ;;
    link) look_for_link ;;
    *) echo "scripts/setup.sh: unknown need '$need'" >&2; exit 2 ;;
  esac
done
install_missing
[ -z "$app" ] || make_environment
case " $* " in *" app "*) "$venv/bin/python" -I importer/engine/native/loader.py ;; esac
