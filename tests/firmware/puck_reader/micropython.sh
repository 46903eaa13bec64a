#!/usr/bin/env bash
# Puts Debian trixie's micropython, with the libraries it needs, into a folder: tests/firmware/puck_reader/micropython.sh FOLDER
# Nothing is installed and no root is needed: apt fetches and checks the packages under a state of its own, and the
# program runs on the folder's own loader and C library. The mirror is the one that this machine's apt uses.
set -euo pipefail

folder=$(realpath -m "${1:?say into which folder}")
keys=/usr/share/keyrings/debian-archive-keyring.gpg
command -v apt-get >/dev/null || { echo "micropython.sh: this is no Debian: there is no apt-get." >&2; exit 1; }
[ -e "$keys" ] || { echo "micropython.sh: the package debian-archive-keyring is missing." >&2; exit 1; }
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sed -n 1p)}
[ -n "$mirror" ] || { echo "micropython.sh: apt knows no Debian mirror; name one in DEBIAN_MIRROR." >&2; exit 1; }

state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
mkdir -p "$state/lists/partial" "$state/archives/partial"
: >"$state/status" # nothing is installed: so every library comes along
echo "deb [signed-by=$keys] $mirror trixie main" >"$state/sources.list"
private() {
    apt-get -qq -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::Cache="$state" \
        -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=- \
        -o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)" "$@"
}
private update
private -y --no-install-recommends --download-only install micropython >/dev/null

rm -rf "$folder"
mkdir -p "$folder"
for package in "$state"/archives/*.deb; do dpkg-deb -x "$package" "$folder"; done
loader=$(find "$folder/usr/lib" -name 'ld-linux*.so.*' | sed -n 1p)
libraries=$(dirname "$(find "$folder/usr/lib" -name 'libc.so.6' | sed -n 1p)")
printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' \
    "$loader" "$libraries" "$folder/usr/bin/micropython" >"$folder/micropython"
chmod +x "$folder/micropython"
"$folder/micropython" -c 'import sys; print("MicroPython", ".".join([str(n) for n in sys.implementation[1][:3]]))'
