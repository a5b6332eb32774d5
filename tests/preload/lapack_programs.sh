#!/bin/sh
# LAPACK's test programs of one precision under the preload: the same output as without it,
# including failures of other routines and test counts. Without the inputs svd.in and ?ec.in, which
# call no Cholesky routine and take most of the time. Usage: lapack_programs.sh PRELOAD LETTER
# FOLDER TUNING_THAT_REFINES
set -eu
preload=$1
letter=$2
folder=$3
tuning_that_refines=$4
. "$(dirname "$0")/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$folder/xlintst$letter" ] || skip "no liblapack-test"

# Lines with times are ignored.
without_times() {
  grep -v -i -E 'second|time' "$1" >"$1.text" || true
}

# compare PROGRAM INPUT: runs both ways.
compare() {
  "$folder/$1" <"$folder/$2" >"$work/without" 2>&1 || true
  with_preload "$work/report" "$folder/$1" <"$folder/$2" >"$work/with" 2>&1 || true
  without_times "$work/without"
  without_times "$work/with"
  [ -s "$work/without.text" ] || fail "$1 $2 prints nothing"
  diff "$work/without.text" "$work/with.text" >"$work/diff" ||
    fail "$1 $2 differs (< without): $(head -n 20 "$work/diff")"
  count=$((count + 1))
}

count=0
compare "xlintst$letter" "${letter}test.in"
case $letter in s) name=SPO ;; d) name=DPO ;; c) name=CPO ;; *) name=ZPO ;; esac
# The counts of the routines' and of the drivers' tests are known.
for line in "$name routines passed the threshold ( *1628 tests" "$name drivers  passed the threshold ( *1910 tests" \
  "$name routines passed the tests of the error exits" "$name drivers passed the tests of the error exits"; do
  grep -q "$line" "$work/with" || fail "not there: $line"
done
expect_intercepted "$work/report" "${letter}potrf" "${letter}potrs" "${letter}posv" "${letter}potri"
# The programs of the routines in two precisions, once by the built-in rows and once by rows that
# refine small systems, too.
case $letter in d) mixed=ds ;; z) mixed=zc ;; *) mixed= ;; esac
for tuning in "" "$tuning_that_refines"; do
  [ -n "$mixed" ] && [ -x "$folder/xlintst$mixed" ] || continue
  CHOL_TUNING=$tuning compare "xlintst$mixed" "${mixed}test.in"
  name=$(echo "${mixed}posv" | tr a-z A-Z)
  grep -q "All tests for $name routines passed the threshold ( *488 tests" "$work/with" ||
    fail "$name: $(cat "$work/with")"
  expect_intercepted "$work/report" "${mixed}posv"
done

compare "xlintstrf$letter" "${letter}test_rfp.in"
for input in nep sep se2 "${letter}ed" "${letter}gg" "${letter}gd" "${letter}sb" "${letter}sg" "${letter}bal" \
  "${letter}bak" "${letter}gbal" "${letter}gbak" "${letter}bb" glm gqr gsv lse; do
  compare "xeigtst$letter" "$input.in"
done
echo "$count runs, all the same"
cat "$work/report"
