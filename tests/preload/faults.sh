#!/bin/sh
# One case of the program `faults` under the preload: it exits, prints ok, and chol computed some of
# its calls. Usage: faults.sh PRELOAD PROGRAM CASE [MODULE...]
set -eu
preload=$1
program=$2
shift 2
. "$(dirname "$0")/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
with_preload "$work/report" timeout 120 "$program" "$@" >"$work/said" || fail "$1 ended with $?"
grep -q '^ok$' "$work/said" || fail "$1 said $(cat "$work/said")"
expect_intercepted "$work/report" dpotrf
cat "$work/report"
