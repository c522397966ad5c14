#!/usr/bin/env bash
# Installs the missing requirements of Millrace, after printing them. What is there stays, so a second run does nothing.
#
#   scripts/setup.sh NEED...
#     app        what `make run` runs: Python packages and a Redis, and what compiles mysqlclient and the C library
#     tests      the Python packages of the tests and the linters as well
#     chart, clients, integrations, release, telemetry   the Python packages of requirements-NEED.txt
#     image      app for the container image: for any processor, without a Redis, with telemetry
#     database   a MariaDB server for the demo and the tests (the programs only: no service is started)
#     browser    Chromium, for the browser tests
#     client     only the database client library, which an installed environment needs to run
#     cluster    the library of a Galera cluster, for the tests of a node
#     link       ip and tc, for the benchmark over a slow link
#
# VENV    the folder of the virtual environment (.venv)
# PYTHON  the Python to create it with (the system's own 3.11, 3.12 or 3.13 if it can compile extensions; else the first of
#         python3.11, 3.12, 3.13 and python3 that is 3.11 or later)
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}
# The files of Python packages that the needs name.
requirements=()
# For how many seconds another program's locks of apt are waited for. A server's own updates may take minutes.
apt_patience=900

missing_what=() missing_apt=() missing_dnf=() missing_brew=() wished=()

have() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || [ -x "/usr/local/sbin/$1" ]; }

# missing WHAT APT DNF BREW: record a system package, by its name in each package manager ("-": part of another one).
missing() { missing_what+=("$1") missing_apt+=("$2") missing_dnf+=("$3") missing_brew+=("$4"); }

# wish APT: a package that helps, but nothing stops without it. Left out where apt does not know it.
wish() { if [ "$(id -u)" -eq 0 ] && apt-cache show "$1" >/dev/null 2>&1; then wished+=("$1"); fi; }

names() { local name; for name in "$@"; do [ "$name" = - ] || printf ' %s' "$name"; done; }

find_python() {
  local candidate minor own=()
  # A system's own Python is compiled with all optimizations. One that a version manager compiles mostly is not, and
  # takes a tenth to a half more processor time.
  for minor in 11 12 13; do [ ! -e "/usr/include/python3.$minor/Python.h" ] || own+=("/usr/bin/python3.$minor"); done
  for candidate in ${PYTHON:+"$PYTHON"} ${own[@]+"${own[@]}"} python3.11 python3.12 python3.13 python3; do
    # Run it: a version manager's shim may exist for a Python that is not installed.
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      echo "$candidate"; return
    fi
  done
}

# The wheel of pip that comes with Python for new environments. Debian has it in a package, and its own Python no pip.
pip_wheel() {
  local wheel
  for wheel in "$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"/ensurepip/_bundled/pip-*.whl \
    /usr/share/python-wheels/pip-*.whl; do
    [ ! -e "$wheel" ] || { echo "$wheel"; return; }
  done
}

# uv_install ARGUMENT...: install what is missing of the requirements. As for pip, the certificates are the system's.
# Bytecode is made at first use: of all packages it would take three times the processor time.
uv_install() {
  UV_SYSTEM_CERTS=true "$venv/bin/uv" pip install --python "$venv/bin/python" --require-hashes "$@" "${requirements[@]/#/--requirements=}"
}

# Asks uv, because files of an earlier installation would not know what was installed after them. Takes 30 ms.
up_to_date() {
  "$venv/bin/python" -c '' 2>/dev/null && [ -x "$venv/bin/uv" ] && uv_install --dry-run --offline 2>&1 | grep 'no changes' >/dev/null
}

mysqlclient_is_built() {
  "$venv/bin/python" -c 'import importlib.metadata, sys
sys.exit("mysqlclient==" + importlib.metadata.version("mysqlclient") + " " not in open("requirements.txt").read())' 2>/dev/null
}

look_for_python() {
  python=$(find_python)
  if [ -z "$python" ]; then
    missing "Python 3.11 or later" "python3 python3-pip-whl" python3.11 python@3.11
  elif [ ! -x "$venv/bin/uv" ] && [ -z "$(pip_wheel)" ]; then
    missing "Python's pip (fetches uv)" python3-pip-whl python-pip-wheel -
  fi
}

look_for_build_tools() {
  have cc || have gcc || missing "a C compiler (builds mysqlclient and the fast scan)" "gcc libc6-dev" gcc gcc
  have pkg-config || missing "pkg-config (builds mysqlclient)" pkg-config pkgconf-pkg-config pkg-config
  pkg-config --exists libmariadb 2>/dev/null || pkg-config --exists mariadb 2>/dev/null || pkg-config --exists mysqlclient 2>/dev/null ||
    missing "the database client library (builds mysqlclient)" libmariadb-dev mariadb-connector-c-devel mariadb-connector-c
  look_for_headers
}

look_for_headers() {
  local what="Python's headers (build mysqlclient)" version
  if [ -z "$python" ]; then missing "$what" libpython3-dev python3.11-devel -; return; fi
  [ ! -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ] || return 0
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  missing "$what" "libpython$version-dev" "python$version-devel" -
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
  have chromium-headless-shell && return
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    # Without windows, Chromium takes half the processor time.
    have "$name" && { wish chromium-headless-shell; return; }
  done
  missing "Chromium (browser tests)" chromium-headless-shell chromium chromium
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
  # Without the translations of all descriptions, which are most of the time; those of before stay.
  apt_get update -o Acquire::Languages=none -o APT::Get::List-Cleanup=false
  apt_get install -y --no-install-recommends "${packages[@]}"
}

install_wished() {
  [ ${#wished[@]} -gt 0 ] || return 0
  local sudo=
  echo "Installing with apt-get: ${wished[*]}"
  apt_get install -y --no-install-recommends "${wished[@]}" || echo "It continues without: ${wished[*]}"
}

# apt_get ARGUMENT...: run it, and wait while another program has one of apt's locks. Its own DPkg::Lock::Timeout would
# wait in silence, and not for those of the lists and of the archives.
apt_get() {
  local output waits='' end=$((SECONDS + apt_patience))
  until output=$($sudo env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" 2>&1 </dev/null); do
    if [[ $output != *"Could not get lock"* ]] || [ $SECONDS -ge $end ]; then echo "$output" >&2; return 1; fi
    [ -n "$waits" ] || echo "Waiting for another program's apt: $(grep -m 1 -o 'Could not get lock.*' <<<"$output")"
    waits=yes
    sleep 1
  done
}

create_environment() {
  python=$(find_python)
  if [ -z "$python" ]; then
    echo "Millrace needs Python 3.11 or later; here is $(python3 --version 2>&1 || echo none)." >&2
    echo "Install one (apt-get install python3.11 libpython3.11-dev), or name it: make setup PYTHON=/path/to/python" >&2
    exit 1
  fi
  "$venv/bin/python" -c '' 2>/dev/null || "$python" -m venv --clear --without-pip "$venv"
}

install_packages() {
  [ -x "$venv/bin/uv" ] || pip install --quiet --no-compile --require-hashes --requirement requirements-uv.txt
  echo "Installing the Python packages of ${requirements[*]} into $venv ($("$venv/bin/python" --version))"
  local index; index=$(index_of_pip)
  [ -z "$index" ] || export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$index}
  uv_install --quiet
}

# pip ARGUMENT...: the pip that comes with Python, for the virtual environment.
pip() { PYTHONPATH=$(pip_wheel) "$venv/bin/python" -m pip --disable-pip-version-check "$@"; }

# The package index of pip's configuration, which uv does not read. `pip config` would take a second.
index_of_pip() {
  echo "${PIP_INDEX_URL:-$(cat /etc/pip.conf ~/.pip/pip.conf ~/.config/pip/pip.conf "${PIP_CONFIG_FILE:-/dev/null}" 2>/dev/null |
    sed -n 's/^ *index-url *[=:] *//p' | tail -n 1)}"
}

[ $# -gt 0 ] || { sed -n '2,18p' "$0"; exit 2; }
every_build=''
for need in "$@"; do
  case $need in
    app) requirements+=(requirements.txt requirements-redis.txt) ;;
    # They also test the build of the C library that is not for this processor.
    tests) every_build=yes requirements+=(requirements-dev.txt) ;;
    chart | clients | integrations | release | telemetry) requirements+=("requirements-$need.txt") ;;
    image) every_build=yes requirements+=(requirements.txt requirements-telemetry.txt) ;;
    database) look_for_database ;;
    browser) look_for_browser ;;
    cluster) look_for_cluster ;;
    client) look_for_client ;;
    link) look_for_link ;;
    *) echo "scripts/setup.sh: unknown need '$need'" >&2; exit 2 ;;
  esac
done
outdated=''
if [ ${#requirements[@]} -gt 0 ] && ! up_to_date; then
  outdated=yes
  look_for_python
  mysqlclient_is_built || look_for_build_tools
fi
install_missing
install_wished
[ ${#requirements[@]} -gt 0 ] || exit 0
[ -z "$outdated" ] || create_environment
# While packages are fetched, the library is compiled.
"$venv/bin/python" -I importer/engine/native/loader.py ${every_build:+--all} &
[ -z "$outdated" ] || install_packages
wait
