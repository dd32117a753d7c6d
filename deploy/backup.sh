#!/bin/sh
# Backs up what no build can make again into a new dated folder of DIR: docs/operations.md lists it and says how to restore it.
# Files that did not change are hard links to those of the backup before. With DAYS, older backups are removed.
set -eu
umask 077
fail() { echo "$1" >&2 && exit 2; }

[ $# -eq 1 ] || [ $# -eq 2 ] || fail "usage: $0 DIR [DAYS]"
command -v rsync >/dev/null || fail 'rsync is missing; install it: apt-get install rsync'
data=${DATA_DIR:-data} public=${PUBLIC_DIR:-public} sources=$(realpath "${SOURCES:-${DATA_DIR:-data}/sources.json}")
[ -f "$sources" ] || fail "there is no file $sources: set SOURCES"
[ -e "$public/datasets/rankings-daily/v1/releases/index.json" ] || fail "$public has no release: there is nothing to back up"
mkdir -p "$1"
place=$(realpath "$1") previous=$(ls "$1" | tail -n 1) next=$(realpath "$1")/.next
rm -rf "$next" && mkdir "$next"

case ${DATABASE_URL:-} in
postgres*) echo 'The store in PostgreSQL is not in this backup: docs/operations.md has the line of pg_dump.' >&2 ;;
*) [ -z "${DATABASE_URL:-}" ] && [ ! -e "$data/store.sqlite" ] || make store ARGS="backup '$next/store.sqlite'" ;;
esac
# The value of a key of the sources file.
named() { tr -d '\n' <"$sources" | sed -nE "s/.*\"$1\" *: *\"([^\"]+)\".*/\1/p"; }
(cd "$(dirname "$sources")" && printf '%s\n' "$sources" "$(named models)" "$(named aliases)" | sed '/^$/d' | xargs -d '\n' realpath) >"$next/.named"
copy() { # copy PART FROM OPTION…: that a file vanished meanwhile is exit code 24
  part=$1 from=$2 && shift 2
  rsync -ai --checksum --copy-unsafe-links --chmod=D700,F600 --link-dest="$place/$previous/$part" \
    "$@" "$from" "$next/$part/" || [ $? -eq 24 ]
}
pass() { # prints what has changed since the pass before; only the state may have records of raw files that are gone
  copy config / --files-from="$next/.named" && copy public "$public/" --delete --exclude=.lock &&
    copy data "$data/" --delete --exclude='*.next' $([ "$(named on_missing)" != keep ] || echo '--include=/state/***') \
      --include='/*.json' --include='/ledger/***' --include='/archive/***' --include='/disclosure/***' --include='/provenance/***' \
      --include='/previous-chains/***' --exclude='*'
}
# Builds may run meanwhile: when a pass copies nothing, all files are of one moment.
changes=all
while [ -n "$changes" ]; do changes=$(pass); done
rm "$next/.named" && (cd "$next" && find . -type f ! -path ./SHA256SUMS -exec sha256sum {} + >SHA256SUMS)
mv -T "$next" "$place/$(date -u +%Y%m%dT%H%M%SZ)"
[ $# -eq 1 ] || find "$place" -mindepth 1 -maxdepth 1 -name '*T*Z' -mtime "+$2" -exec rm -rf {} +
