# What both installers share, the box's and the pit's: releases next to each other, a link to the one that runs, and
# the way back. Sourced, never run. The installer that sources it names:
#   base, trusted, lock    folder of the releases, the maker's root that is trusted, file that keeps a second one out
#   room_mb                what must be free
#   programs               the units that must report ready
#   ready_within           seconds that they have for it
#   records                the folder of what nothing may remove, for messages
# and functions: place RELEASE, start, answers, before_switch RELEASE, set_back RELEASE.
# shellcheck shell=bash disable=SC2154

releases=$base/releases
steady_for=5

say() { printf '%s\n' "$*"; }
bad_input() { printf 'Error: %s\n' "$*" >&2; exit 2; }
failed() { printf 'Error: %s\n' "$*" >&2; exit 1; }

# ---- what must be so before anything is touched ----

preflight() {
    [ "$(id -u)" = 0 ] || bad_input "This needs root: sudo $0"
    [ -d /run/systemd/system ] || bad_input "This machine was not started by systemd; Feltwatch's services need it."
    exec 9>"$lock"
    flock --nonblock 9 || bad_input "Another installation is under way; wait for it."
}

preflight_release() { # UNPACKED FOLDER...: the release; folders that need room, too
    local unpacked=$1 folder free
    shift
    [ -f "$unpacked/RELEASE" ] && [ -d "$unpacked/wheels" ] && [ -d "$unpacked/system" ] ||
        bad_input "This is no unpacked release: 'make release' makes one, and ./install lies beside its wheels."
    # Where a maker is trusted, an upgrade comes by 'feltwatch update', which has verified this very script.
    if [ -e "$trusted" ] && [ -e "$base/current/root.json" ] && [ -z "${FELTWATCH_VERIFIED-}" ] &&
        [ ! -e "$releases/$(cat "$unpacked/RELEASE")/complete" ]; then
        bad_input "This machine takes signed releases only: sudo feltwatch update FOLDER (what 'make release' leaves in" \
            "dist/repository). Nothing was changed."
    fi
    command -v python3 >/dev/null || bad_input "Python is missing: apt-get install python3 python3-venv"
    python3 -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info[:2] <= (3, 13) and sys.maxsize > 2**32))' ||
        bad_input "Feltwatch needs a 64-bit Python 3.11, 3.12 or 3.13; this is $(python3 --version) on $(uname -m)."
    python3 -c 'import ensurepip, venv' 2>/dev/null || bad_input "Python's venv is missing: apt-get install python3-venv"
    mkdir -p "$releases"
    # What a 'feltwatch update' left that a power cut ended; this one's own stays.
    find "$base" -maxdepth 1 -name '.update-*' ! -path "${unpacked%/*}" -exec rm -rf {} +
    for folder in "$releases" "$@"; do
        folder=$(existing "$folder")
        free=$(($(stat --file-system --format='%a * %S' "$folder") / 1000000))
        [ "$free" -ge "$room_mb" ] || bad_input "$folder has $free MB left; $room_mb MB are needed. Make room first."
    done
}

existing() {
    local folder=$1
    while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
    printf '%s' "$folder"
}

# ---- a release next to the others ----

make_release() { # RELEASE UNPACKED SYSTEM WHEEL: SYSTEM becomes its folder system, WHEEL is what pip installs
    local target=$releases/$1 unpacked=$2
    if [ -e "$target/complete" ]; then
        say "Release $1 is there already."
        return
    fi
    say "Making release $1: some minutes on a Pi. What runs goes on meanwhile."
    rm -rf "$target"
    python3 -m venv "$target"
    if ! "$target/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-index \
        --find-links "$unpacked/wheels" "$4"; then
        rm -rf "$target"
        failed "The wheels do not fit $(python3 --version) on $(uname -m); nothing was changed."
    fi
    "$target/bin/python" -m dealer_ui.server.compile_templates || true # without them the page starts slower
    cp -r "$3" "$target/system"
    [ -e "$target/system/releases.sh" ] || cp "$unpacked/system/releases.sh" "$target/system/"
    borrow_lgpio "$target"
    if ! "$target/bin/feltwatch" --help >/dev/null; then
        rm -rf "$target"
        failed "Release $1 does not even tell its help; nothing was changed."
    fi
    cp "$unpacked"/{RELEASE,MADE,root.json} "$target/"
    touch "$target/complete"
    sync --file-system "$target"
}

# Python 3.13 has no lgpio wheel; Raspberry Pi OS's own is taken into the release, and nothing else of the system's Python.
borrow_lgpio() {
    "$1/bin/python" -c 'import lgpio' 2>/dev/null && return
    local packages file
    packages=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    for file in /usr/lib/python3/dist-packages/{lgpio.py,_lgpio*.so}; do
        [ ! -e "$file" ] || ln -s "$file" "$packages/"
    done
}

# The first installation has no maker to trust but the one that its package names.
put_root() { # RELEASE
    local root=$releases/$1/root.json
    [ ! -e "$trusted" ] && [ -e "$root" ] || return 0
    rm -rf "$base/trusted" # what another maker signed
    put "$root" "$trusted"
    sync "$(dirname "$trusted")"
    say "Trusted from now on, by $trusted: $("$releases/$1/bin/python" -c 'import pathlib, sys
from firmware.update.metadata import words_of
print(words_of(pathlib.Path(sys.argv[1]).read_bytes()))' "$root"). Compare these words with the maker's."
}

current() { [ ! -L "$base/current" ] || basename "$(readlink "$base/current")"; }
previous() { [ ! -L "$base/previous" ] || basename "$(readlink "$base/previous")"; }

point() { # NAME RELEASE: in one step, whatever happens
    ln -sfn "releases/$2" "$base/.$1"
    mv -T "$base/.$1" "$base/$1"
}

put() { # FILE AS: whole or not at all, whenever the power goes
    install -D -m 0644 "$1" "$2.new"
    sync "$2.new"
    mv "$2.new" "$2"
}

put_units() { # SYSTEM PATTERN: all units of a release, and none of another
    local unit
    for unit in "$1"/units/*; do put "$unit" "/etc/systemd/system/${unit##*/}"; done
    # shellcheck disable=SC2086 # a pattern
    for unit in /etc/systemd/system/$2; do
        [ ! -f "$unit" ] || [ -e "$1/units/${unit##*/}" ] || rm "$unit"
    done
}

# ---- switching ----

# Each release puts its own files where they belong: the one that is gone back to knows its own best.
switch_to() { bash "$releases/$1/system/install" --place "$1" && start; }

# Each by its name: stopping the target alone asks all of them to stop and waits for none, and a start that comes
# before a stop has begun takes its place. Then what ran before would go on, and be taken for what is new.
stop_units() { # UNIT...
    systemctl stop "$@" 2>/dev/null || true
    if any_is active; then
        say "What ran before does not stop." >&2
        return 1
    fi
    # By name, too: a pattern leaves those out that have not failed, and their starts of the last minutes count on.
    systemctl reset-failed "$@" 2>/dev/null || true
}

# Ready: the programs said so, they answer, and it stays so for a while.
ready() {
    local deadline=$((SECONDS + ready_within)) steady=0
    while [ $SECONDS -lt $deadline ] && [ $steady -lt $steady_for ]; do
        sleep 1
        if any_is failed || restarted; then return 1; fi
        if all_active && answers; then steady=$((steady + 1)); else steady=0; fi
    done
    [ $steady -ge $steady_for ]
}

any_is() {
    local unit
    for unit in "${programs[@]}"; do systemctl is-"$1" --quiet "$unit" && return; done
    return 1
}
all_active() {
    local unit
    for unit in "${programs[@]}"; do systemctl is-active --quiet "$unit" || return; done
}
restarted() {
    local unit
    for unit in "${programs[@]}"; do
        [ "$(systemctl show --property=NRestarts --value "$unit")" -lt 2 ] || return 0
    done
    return 1
}

last_words() {
    local unit
    say "Its last words:" >&2
    for unit in "${programs[@]}"; do # each program's own; what the service manager says of their ends would push them out
        journalctl --quiet --no-pager --output=cat --lines=4 "_SYSTEMD_UNIT=$unit" >&2
    done
}

# Switches to a release; goes back to the one before, by itself, where it does not report ready.
try_release() {
    local new=$1 old
    old=$(current)
    # Where the power is cut from here on, this says what to go back to.
    [ -z "$old" ] || [ "$old" = "$new" ] || point trial "$old"
    say "Switching to release $new: its programs have $ready_within s to report ready."
    if before_switch "$new" && switch_to "$new" && ready; then
        rm -f "$base/trial"
        [ -z "$old" ] || [ "$old" = "$new" ] || point previous "$old"
        return
    fi
    last_words
    [ -n "$old" ] && [ "$old" != "$new" ] ||
        failed "Release $new did not report ready, and there is none to go back to. More of its words:" \
            "journalctl$(printf ' -u %s' "${programs[@]%.service}"). Once the cause is away, run this again."
    say "Release $new did not report ready: going back to $old." >&2
    go_back_to "$old" || failed "Nor does $old start any more. The record is untouched in $records; call the technician."
    [ "$new" = "$(previous)" ] || rm -rf "${releases:?}/$new"
    failed "Release $new was rolled back; $old is running, as before."
}

go_back_to() { set_back "$1" && switch_to "$1" && ready && rm -f "$base/trial"; }

keep_two() {
    local release
    for release in "$releases"/*; do
        case ${release##*/} in
            "$(current)" | "$(previous)") ;;
            *) rm -rf "$release" ;;
        esac
    done
}

rollback() {
    preflight
    local release
    release=$(previous)
    [ ! -L "$base/trial" ] || release=$(basename "$(readlink "$base/trial")") # an upgrade that a power cut ended
    [ -n "$release" ] || bad_input "There is no release before this one."
    set_back "$release"
    try_release "$release"
    say "Feltwatch $release is running."
}
