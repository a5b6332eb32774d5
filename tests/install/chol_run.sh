#!/bin/sh
# chol-run in an installed tree whose path the loader would split or expand in LD_PRELOAD. Usage:
# chol_run.sh PREFIX
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/a folder:with \$LIB"
cp -a "$1" "$prefix"
export TMPDIR="$work/temporary files"
mkdir "$TMPDIR"
for run in "$1/bin/chol-run" "$prefix/bin/chol-run"; do
  "$run" -q cat /proc/self/maps >"$work/maps" 2>"$work/said" || { cat "$work/said"; exit 1; }
  [ ! -s "$work/said" ] || { echo "FAILED: $(cat "$work/said")"; exit 1; }
  folder=$(readlink -f "$(dirname "$(find "$(dirname "$run")/.." -name libchol_preload.so)")")
  for library in libchol_preload.so libchol.so; do
    grep -qF " $folder/$library" "$work/maps" || { echo "FAILED: no $folder/$library: $(cat "$work/maps")"; exit 1; }
  done
done
