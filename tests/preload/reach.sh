#!/bin/sh
# Programs that are not intercepted, and the overhead of the preload. Usage: reach.sh PRELOAD
# PROGRAM STATIC_PROGRAM CHOL_RUN
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

# A statically linked LAPACK cannot be intercepted.
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

# chol-run: exit codes, the table, and the message when there is none.
[ "$("$chol_run" "$program" plain 2>"$work/table")" = ok ] || fail "chol-run"
grep -q "^  dpotrf .*chol, host$" "$work/table" || fail "chol-run: $(cat "$work/table")"
"$chol_run" true 2>"$work/table" || fail "chol-run true"
grep -q "no calls of true were intercepted" "$work/table" || fail "chol-run true: $(cat "$work/table")"
code=0
"$chol_run" -q sh -c 'exit 42' || code=$?
[ $code -eq 42 ] || fail "exit code $code for 42"

"$chol_run" "$program" workers 2>"$work/table" >/dev/null || fail "chol-run workers"
grep -q "^chol_preload: calls of process [0-9]* (.*) and 2 that it forked$" "$work/table" ||
  fail "chol-run workers: $(cat "$work/table")"
grep -q "^  dpotrf  *3 .*chol, host$" "$work/table" || fail "chol-run workers: $(cat "$work/table")"
"$chol_run" sh -c "\"$program\" plain; \"$program\" plain" 2>"$work/table" >/dev/null || fail "chol-run sh"
[ "$(grep -c "^  dpotrf  *1 .*chol, host$" "$work/table")" -eq 2 ] || fail "chol-run sh: $(cat "$work/table")"

# refused WHY OPTION...: exit code 100, the message, and nothing is run.
refused() {
  why=$1
  shift
  code=0
  "$chol_run" "$@" touch "$work/was_run" 2>"$work/said" || code=$?
  [ $code -eq 100 ] && [ ! -e "$work/was_run" ] || fail "chol-run $*: exit code $code"
  grep -q "$why" "$work/said" || fail "chol-run $*: $(cat "$work/said")"
}
refused "only = foo, must be off, on, or routines such as" --only foo
refused "only = dpotrf,cholesky, must be" --only dpotrf,cholesky
refused "no option --onyl=potrf" --onyl=potrf
"$chol_run" --only DPOTRS "$program" plain 2>"$work/table" >/dev/null || fail "chol-run --only"
grep -q "^  dpotrf .*the original$" "$work/table" || fail "chol-run --only: $(cat "$work/table")"

# Start and end of a program that has no LAPACK: the best of many runs, with and without the
# preload.
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
