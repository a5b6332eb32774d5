#!/bin/sh
# A program prints the same with and without the preload, and chol computed the routines. Usage:
# same_output.sh PRELOAD "ROUTINE..." PROGRAM [ARGUMENT...]
set -eu
preload=$1
routines=$2
shift 2
. "$(dirname "$0")/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$@" >"$work/without" || fail "$1 fails without the preload"
with_preload "$work/report" "$@" >"$work/with" || fail "$1 fails under the preload"
[ -s "$work/without" ] || fail "$1 prints nothing"
diff "$work/without" "$work/with" >"$work/diff" || fail "different (< without): $(head -n 20 "$work/diff")"
# shellcheck disable=SC2086 # a list of words
expect_intercepted "$work/report" $routines
echo "$(wc -l <"$work/with") lines, all the same"
cat "$work/report"
