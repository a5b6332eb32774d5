#!/bin/sh
# Invalid values in the environment under the preload: a line on stderr, once a process, and the
# default. Usage: environment.sh PRELOAD PROGRAM PROBE [FOLDER OF A THREADED LIBLAPACK]
set -eu
preload=$1
program=$2
probe=$3
threaded=${4:-}
. "$(dirname "$0")/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run CASE VARIABLE=VALUE...: the output of the program is in $work/said, the table in $work/report.
run() {
  case=$1
  shift
  rm -f "$work/report"
  CHOL_REPORT=$work/report LD_PRELOAD=$preload env "$@" "$program" "$case" >"$work/said" 2>&1 ||
    fail "$*: $(cat "$work/said")"
  grep -q '^ok$' "$work/said" || fail "$*: $(cat "$work/said")"
}
lines() { grep -c '^chol: ' "$work/said" || true; }

for setting in CHOL_NUM_THREADS=abc CHOL_NUM_THREADS=1e3 CHOL_NUM_THREADS=-1 CHOL_NUM_THREADS=99999999 \
  CHOL_VERBOSE=maybe CHOL_OFFLOAD=sometimes CHOL_HOST_ISA=sse2 CHOL_BACKEND=foo CHOL_PRELOAD=offf \
  CHOL_PRELOAD=dpotrf,foo CHOL_DEVICES=-1 CHOL_DEVICES=0,,1; do
  run threads $setting
  [ "$(lines)" = 1 ] || fail "$setting: $(cat "$work/said")"
  grep -q "^chol: ${setting%%=*} = ${setting#*=}, must be " "$work/said" || fail "$setting: $(cat "$work/said")"
  expect_intercepted "$work/report" dpotrf
done
run plain CHOL_PRELOAD=off CHOL_NUM_THREADS=x CHOL_OFFLOAD=y
[ "$(lines)" = 2 ] || fail "two: $(cat "$work/said")"
for setting in CHOL_NUM_THREADS= CHOL_NUM_THREADS=0 CHOL_PRELOAD= CHOL_PRELOAD=DPOTRF CHOL_HOST_ISA=AVX2 \
  CHOL_OFFLOAD=NEVER CHOL_VERBOSE=; do
  run plain $setting
  [ "$(lines)" = 0 ] || fail "$setting: $(cat "$work/said")"
  expect_intercepted "$work/report" dpotrf
done

# A program that calls chol itself also gets the message, and its handle has the default.
CHOL_NUM_THREADS=abc OMP_NUM_THREADS=2 LD_PRELOAD=$preload "$probe" >"$work/said" 2>&1
[ "$(lines)" = 1 ] && grep -q '^threads: 2$' "$work/said" || fail "$(cat "$work/said")"

# A program that calls no LAPACK gets no message.
[ -z "$(CHOL_NUM_THREADS=abc LD_PRELOAD=$preload true 2>&1)" ] || fail "true printed a message about the environment"

# An invalid value does not lift the limit of the BLAS.
if [ -n "$threaded" ]; then
  for value in "" 0 abc; do
    run count CHOL_NUM_THREADS=$value OPENBLAS_NUM_THREADS=1 LD_LIBRARY_PATH="$threaded"
    grep -q '^threads 0$' "$work/said" || fail "CHOL_NUM_THREADS='$value': $(cat "$work/said")"
  done
  run count CHOL_NUM_THREADS=3 OPENBLAS_NUM_THREADS=1 LD_LIBRARY_PATH="$threaded"
  grep -q '^threads 2$' "$work/said" || fail "CHOL_NUM_THREADS=3: $(cat "$work/said")"
fi

# An invalid tuning file is reported once, and built-in rows are used.
echo '{"chol": "0.0.9", "machines": {}}' >"$work/old.json"
echo 'no JSON' >"$work/none.json"
for file in "$work/old.json" "$work/none.json" "$work/not-there.json" "$work"; do
  run threads CHOL_TUNING="$file"
  [ "$(lines)" = 1 ] || fail "$file: $(cat "$work/said")"
  grep -q "^chol: tuning file $file.*(built-in rows are used)$" "$work/said" || fail "$(cat "$work/said")"
  expect_intercepted "$work/report" dpotrf
done

# CHOL_REPORT: a file without a slash; one that cannot be written is reported, and the table is
# printed to stderr.
(cd "$work" && run plain CHOL_REPORT=report.txt && expect_intercepted report.txt dpotrf) || exit 1
run plain CHOL_REPORT="$work/not/there"
grep -q "^chol: CHOL_REPORT = $work/not/there: No such file" "$work/said" || fail "$(cat "$work/said")"
grep -q '^  dpotrf .*chol, host$' "$work/said" || fail "$(cat "$work/said")"
run plain CHOL_REPORT=0
if grep -q dpotrf "$work/said"; then fail "CHOL_REPORT=0: $(cat "$work/said")"; fi
