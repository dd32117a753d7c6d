#!/bin/sh
# Makes a bucket of S3, R2, B2 or MinIO a copy of the folder that make export ARGS='DIR --no-symlinks' writes: docs/hosting.md.
# After a stop at any step, run it again: it goes on.
set -eu
export LC_ALL=C RCLONE_S3_NO_CHECK_BUCKET=true

fail() {
  echo "$1" >&2
  exit 2
}

[ $# -eq 2 ] || fail "usage: $0 DIR REMOTE:BUCKET[/PREFIX]"
site=$1 bucket=$2
dataset=datasets/rankings-daily/v1
export="make export ARGS='$site --no-symlinks'"
command -v rclone >/dev/null ||
  fail 'rclone is missing; install 1.60 or newer: apt-get install rclone media-types, or https://rclone.org/install/'
[ -f "$site/$dataset/releases/index.json" ] || fail "$site has no release; run $export"
[ ! -L "$site/$dataset/latest" ] || fail "$site/$dataset/latest is a link, and a bucket has none; run $export"
! grep -q '"content": null' "$site/.tokenboard-export/list.json" || fail "the export to $site was stopped; run $export"

lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
trap 'exit 130' HUP INT TERM

# The files of each step. A bucket cannot choose the compressed form of a text, so those are left out. While the sample is
# published, its releases, days and months can still be replaced.
(cd "$site" && find . -name '.?*' -prune -o -type f -print) >"$lists/found"
synthetic=$(grep -c '"synthetic": true' "$site/catalog.json") || :
sed 's|^\./||' "$lists/found" | awk -v lists="$lists" -v dataset="^$dataset/" -v synthetic="$synthetic" '
  /\.(html|css|js|svg|json)\.gz$/ && $0 !~ dataset "(releases|latest|daily|monthly)/" { next }
  { print > (lists "/unsorted"); step = "pages" }
  /^assets\/.*[.-][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+\.[A-Za-z0-9_]+$/ { step = "immutable" }
  !synthetic && $0 ~ dataset "releases/[^/]+/" && !/\/(TOMBSTONE\.json|index\.html)$/ { step = "immutable" }
  !synthetic && $0 ~ dataset "(daily|monthly)/[^/]+/r[0-9]+\\." { step = "immutable" }
  /^api\// || $0 ~ dataset "([^/]+|latest/.*|releases/index\\.json)$" { step = "tables" }
  /^(catalog\.json|feed\.(atom|json)|allowed_signers|(SHA256SUMS|site\.json)(\.sig)?)$/ { step = "pointers" }
  $0 ~ dataset "latest\\.json$" { step = "pointers" }
  { print > (lists "/" step) }'
sort "$lists/unsorted" >"$lists/wanted"

# What is there beside them, in the folders that a build fills.
rclone lsf --recursive --files-only "$bucket" >"$lists/listing"
sort "$lists/listing" >"$lists/there"
comm -13 "$lists/wanted" "$lists/there" >"$lists/others"
sed -nE '/\/\./d; /^(datasets\/rankings-daily|api|authors|changelog|coverage|leaderboards|models|more-models)\//p' \
  "$lists/others" >"$lists/gone"

delete() {
  [ ! -s "$lists/gone" ] || rclone delete --files-from-raw "$lists/gone" "$bucket"
  : >"$lists/gone"
}

upload() { # upload STEP CACHE-CONTROL
  [ ! -e "$lists/$1" ] ||
    rclone copy --checksum --files-from-raw "$lists/$1" --header-upload "Cache-Control: $2" "$site" "$bucket"
}

# A new tombstone: what was withdrawn must not stay until everything is uploaded.
if comm -23 "$lists/wanted" "$lists/there" | grep -q '/TOMBSTONE\.json$'; then delete; fi
upload immutable 'public, max-age=31536000, immutable'
for step in pages tables pointers; do upload "$step" 'public, max-age=60, must-revalidate'; done
delete
