#!/usr/bin/env bash
# Installs the programs that `make chart` checks the files of deploy/ with, unless they are on PATH: Helm, built from its
# module, and promtool of Debian's package prometheus (the program only: no service is started). They are kept for all
# checkouts of this account, in .cache/millrace/tools (tests/deploy/values.py).
set -euo pipefail
cd "$(dirname "$0")/.."
tools=${XDG_CACHE_HOME:-$HOME/.cache}/millrace/tools
helm_version=v3.18.6
export PATH=$tools:$PATH:/usr/local/go/bin

have() { command -v "$1" >/dev/null 2>&1; }

build_helm() {
  have go || { echo "Helm is missing, and Go to build it. Install Helm (helm.sh), or Go 1.24 or later."; exit 1; }
  echo "Building Helm $helm_version with Go, which takes some minutes the first time"
  GOBIN=$tools go install "helm.sh/helm/v3/cmd/helm@$helm_version"
}

unpack_promtool() {
  have apt-get || { echo "promtool is missing. Install Prometheus (prometheus.io)."; exit 1; }
  echo "Unpacking promtool of Debian's package prometheus"
  local folder; folder=$(mktemp -d)
  # Not installed: the package would start a service.
  (cd "$folder" && { apt-get download -qq prometheus || { apt-get update -qq && apt-get download -qq prometheus; }; } &&
    dpkg-deb --extract prometheus_*.deb .)
  mv "$folder/usr/bin/promtool" "$tools/"
  rm -r "$folder"
}

mkdir -p "$tools"
have helm || build_helm
have promtool || unpack_promtool
