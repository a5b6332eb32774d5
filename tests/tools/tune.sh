#!/bin/sh
# chol-tune: a run, a killed and continued one, damaged files, two concurrent ones, and use of the
# files by the library.
#   tune.sh CHOL_TUNE CHOL_INFO VERSION
set -eu
tune=$1 info=$2 version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CHOL_TUNING
export XDG_CONFIG_HOME="$work/config" CHOL_BACKEND=host
out=$work/plans.json
run() { "$tune" --device host --quick --routines potrf --precisions d --trial-ms 0.1 --output "$out" "$@" 2>"$work/log"; }
die() {
  echo "FAILED: $*"
  cat "$work/log"
  exit 1
}

run >"$work/said" || die "first run"
grep -q '\[6/6\]' "$work/log" || die "no progress"
CHOL_TUNING=$out "$info" --json | grep -q '"source": "file"' || die "the library does not take the file"
complete=$(wc -l <"$out.journal")
run --report | grep -q '100 %' || die "report"

# User-defined orders, which must ascend.
rm -f "$out" "$out.journal"
run --orders 6,20 >"$work/said" || die "orders"
grep -q '\[2/2\]' "$work/log" || die "other orders than those named"
run --orders 8,8 >"$work/said" && die "orders that do not ascend"
grep -q 'ascend' "$work/log" || die "orders that do not ascend are not named"

# Tiles of one matrix: the model compared with all sizes, a table, and the rates of the cores in a
# file that keeps its rows and is accepted by the library.
"$tune" one --orders 64,200 --threads 1,2 --trial-ms 0.1 --rounds 1 --report "$work/one.csv" --output "$out" >"$work/said" 2>"$work/log" || die "one"
grep -q '^model: median regret' "$work/said" || die "no regret"
grep -q 'one on 2 threads,d,200,tiles nb 32' "$work/one.csv" || die "no table of tiles"
grep -q core_gflops "$out" && grep -q lanes "$out" || die "the rates of the cores are not compared with the rows"
CHOL_TUNING=$out "$info" >"$work/log" 2>&1 || die "rates of the cores are refused"

# Killed after some trials: no trial is repeated, and no temporary files remain.
rm -f "$out" "$out.journal"
mkdir "$work/temporary"
TMPDIR=$work/temporary "$tune" --device host --quick --routines potrf --precisions d --trial-ms 20 --output "$out" >"$work/log" 2>&1 &
child=$!
waited=0
while [ "$(cat "$out.journal" 2>/dev/null | wc -l)" -lt 3 ] && [ $waited -lt 500 ]; do
  sleep 0.02
  waited=$((waited + 1))
done
kill -KILL $child
wait $child 2>/dev/null || true
[ -s "$out.journal" ] || die "no journal"
[ ! -e "$out" ] || die "a killed run wrote its result"
[ -z "$(ls "$work/temporary")" ] || die "a killed run left a file behind"
run >"$work/said" || die "run after a kill"
grep -q 'earlier trials are reused' "$work/log" || die "nothing was taken from the killed run"
[ "$(sort "$out.journal" | sed 's/.*"key":"\([^"]*\)".*/\1/' | sort | uniq -d | wc -l)" -eq 0 ] || die "a trial was made twice"

# Nothing is measured again; an incomplete line and foreign text are ignored.
cp "$out.journal" "$work/before"
run >"$work/said" || die "run on a complete journal"
cmp -s "$out.journal" "$work/before" || die "a complete journal grew"
printf 'not a trial\n{"machine": "x", "key"' >>"$out.journal"
run >"$work/said" || die "run on a damaged journal"
grep -q '2 lines are not trials' "$work/log" || die "damage not reported"
run >"$work/said" || die "run after that"
[ "$complete" -gt 0 ] || die "empty journal"

# A damaged or foreign result is replaced; rows of another machine are kept.
echo '{' >"$out"
run >"$work/said" || die "run on a damaged result"
CHOL_TUNING=$out "$info" >/dev/null || die "result after damage"
echo '{"chol": "'"$version"'", "version": 2, "machines": {"abacus": [1]}}' >"$out"
run >"$work/said"
grep -q abacus "$out" || die "another machine's rows are gone"

# Two at once.
if command -v flock >/dev/null; then
  if flock "$out.journal" "$tune" --device host --quick --routines potrf --precisions d --output "$out" >"$work/log" 2>&1; then
    die "two at once"
  fi
  grep -q 'another chol-tune is at work' "$work/log" || die "two at once, message"
fi

# An invalid or outdated file is an error if named, and ignored if found at the default path.
mkdir -p "$work/config/chol"
for broken in '{' '{"chol": "0.0.1", "machines": {}}' '[]'; do
  printf '%s' "$broken" >"$work/config/chol/tuning.json"
  "$info" >"$work/log" 2>&1 || die "found file $broken"
  if CHOL_TUNING=$work/config/chol/tuning.json "$info" >"$work/log" 2>&1; then die "named file $broken"; fi
  grep -q 'tuning.json' "$work/log" || die "named file $broken: no reason"
done
CHOL_VERBOSE=1 "$info" 2>&1 | grep -q 'tuning file.*built-in rows are used' || die "no line under CHOL_VERBOSE"
echo passed
