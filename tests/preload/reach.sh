#!/bin/sh
# Where the preload does not reach, and what it costs where it does nothing.
# Usage: reach.sh PRELOAD PROGRAM STATIC_PROGRAM CHOL_RUN
set -eu
preload=$1
program=$2
static=$3
chol_run=$4
. "$(dirname "$0")/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# CHOL_PRELOAD=off, and a list that leaves potrf out or in.
for list in off dpotrs "spotrf,potri" dpotrf potrf "posv potrf"; do
  rm -f "$work/report"
  CHOL_PRELOAD=$list with_preload "$work/report" "$program" plain >/dev/null || fail "$list"
  case $list in
    dpotrf | potrf | *" potrf") expected="chol, host" ;;
    *) expected="the original" ;;
  esac
  grep -q "^  dpotrf .*$expected$" "$work/report" || fail "CHOL_PRELOAD=$list: $(cat "$work/report")"
done

# A LAPACK that is linked statically cannot be reached.
with_preload "$work/static" "$static" plain >/dev/null || fail "the static program"
[ ! -e "$work/static" ] || fail "a static LAPACK was caught: $(cat "$work/static")"

# The loader ignores a preload with a path for a setuid program.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  cp "$program" "$work/setuid"
  chmod 4755 "$work/setuid"
  with_preload "$work/other" setpriv --reuid=65534 --clear-groups "$work/setuid" plain \
    >/dev/null 2>&1 || fail "the setuid program"
  [ ! -e "$work/other" ] || fail "a setuid program was caught: $(cat "$work/other")"
fi

# chol-run: exit codes, the table, and the word when there is none.
[ "$("$chol_run" "$program" plain 2>"$work/table")" = ok ] || fail "chol-run"
grep -q "^  dpotrf .*chol, host$" "$work/table" || fail "chol-run: $(cat "$work/table")"
"$chol_run" true 2>"$work/table" || fail "chol-run true"
grep -q "nothing was caught of true" "$work/table" || fail "chol-run true: $(cat "$work/table")"
code=0
"$chol_run" -q sh -c 'exit 42' || code=$?
[ $code -eq 42 ] || fail "exit code $code for 42"

# Start and end of a program that has no LAPACK: the best of many, with against without.
best_microseconds() {
  best=1000000000
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    start=$(date +%s%N)
    LD_PRELOAD=$1 /bin/true
    spent=$((($(date +%s%N) - start) / 1000))
    if [ $spent -lt $best ]; then best=$spent; fi
  done
}
best_microseconds ""
without=$best
best_microseconds "$preload"
echo "start-up: $without us without, $best us with the preload"
[ $((best - without)) -lt 3000 ] || fail "start-up costs $((best - without)) us"
