#!/bin/sh
# The table and the figure of chol-tune --report, for a journal written here.
#   tune_figure.sh CHOL_TUNE CHOL_INFO VERSION
# Exit code 77: the table is correct, but matplotlib is missing.
set -eu
tune=$1 info=$2 version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CHOL_TUNING
export CHOL_BACKEND=host
out=$work/plans.json
report() { "$tune" --device host --routines potrf --precisions d --orders 8,16,32,160 --output "$out" --report "$@" >"$work/said" 2>"$work/log"; }
die() {
  echo "FAILED: $*"
  cat "$work/said" "$work/log"
  exit 1
}
machine=$("$info" --json | sed -n 's/.*"\(host [a-z0-9]*\)".*/\1/p' | head -n 1)
trial() { printf '{"machine":"%s","chol":"%s","key":"potrf d %s","gflops":%s}\n' "$machine" "$version" "$1" "$2"; }

# Order 8: the built-in plan, `interleaved_lanes`, is no better than half of another; one plan failed, one was not
# tried. Order 16: it wins, since 3 % are none. Order 32: nothing is known. Order 160: the built-in plan
# is `panel`.
{
  trial '8|interleaved_lanes|0' 1
  trial '8|interleaved_lanes register_tile 2|0' 3
  trial '8|interleaved_lanes register_tile 2|1' 4
  trial '8|interleaved_lanes register_tile 3|0' 2
  trial '8|interleaved_lanes register_tile 3|1' 2
  trial '8|panel|0' 0
  trial '16|interleaved_lanes|0' 9.8
  trial '16|interleaved_lanes register_tile 2|0' 10
  trial '160|interleaved_lanes|0' 5
  trial '160|panel|0' 5
} >"$out.journal"
cat >"$work/expected" <<END
machine,routine,form,precision,n,plan,method,fate,trials,gflops,share,is_winner,is_built_in
"$machine",potrf,interleaved,d,8,interleaved_lanes register_tile 2,interleaved_lanes,timed,2,4,1,1,0
"$machine",potrf,interleaved,d,8,interleaved_lanes register_tile 3,interleaved_lanes,timed,2,2,0.5,0,0
"$machine",potrf,interleaved,d,8,interleaved_lanes,interleaved_lanes,timed,1,1,0.25,0,1
"$machine",potrf,interleaved,d,8,interleaved_lanes register_tile 4,interleaved_lanes,untried,0,,,0,0
"$machine",potrf,interleaved,d,8,panel,panel,failed,1,,,0,0
"$machine",potrf,interleaved,d,16,interleaved_lanes register_tile 2,interleaved_lanes,timed,1,10,1,0,0
"$machine",potrf,interleaved,d,16,interleaved_lanes,interleaved_lanes,timed,1,9.8,0.98,1,1
"$machine",potrf,interleaved,d,16,interleaved_lanes register_tile 3,interleaved_lanes,untried,0,,,0,0
"$machine",potrf,interleaved,d,16,interleaved_lanes register_tile 4,interleaved_lanes,untried,0,,,0,0
"$machine",potrf,interleaved,d,16,panel,panel,untried,0,,,0,0
"$machine",potrf,interleaved,d,160,panel,panel,timed,1,5,1,1,1
"$machine",potrf,interleaved,d,160,interleaved_lanes,interleaved_lanes,timed,1,5,1,0,0
"$machine",potrf,interleaved,d,160,interleaved_lanes register_tile 2,interleaved_lanes,untried,0,,,0,0
"$machine",potrf,interleaved,d,160,interleaved_lanes register_tile 3,interleaved_lanes,untried,0,,,0,0
"$machine",potrf,interleaved,d,160,interleaved_lanes register_tile 4,interleaved_lanes,untried,0,,,0,0
END
report "$work/trials.csv" || die "table"
diff "$work/expected" "$work/trials.csv" >"$work/log" || die "table: what was expected (<) and what is there (>)"
grep -q 'd 8 .*built-in plan at 25 % of the fastest, 1 refused or wrong, 1 not tried' "$work/said" || die "distance at a point"
grep -q 'potrf d: built-in plans at 63 % .*3 orders.* at least 25 % (n = 8)' "$work/said" || die "distance over all orders"
report || die "text alone"
report "$work/trials.txt" && die "a figure of no known kind"
report /nowhere/trials.csv && die "a table that cannot be written"

# Without the script, as one file copied elsewhere is.
cp "$tune" "$work/alone"
"$work/alone" --device host --output "$out" --report "$work/alone.svg" >"$work/said" 2>"$work/log" || die "no script"
grep -q "not drawn.*: chol-tune-plot $work/alone.svg.csv $work/alone.svg" "$work/log" || die "no script: no advice"
[ -s "$work/alone.svg.csv" ] || die "no script: no table"

# Its help needs no matplotlib, nor anything but Python's own.
if [ -x /usr/bin/python3 ]; then
  /usr/bin/python3 -I -S "$(dirname "$tune")/chol-tune-plot" --help >"$work/said" 2>"$work/log" || die "help"
  grep -q '^usage: chol-tune-plot' "$work/said" || die "help"
fi
report "$work/trials.svg" || die "picture"
if grep -q 'not drawn' "$work/log"; then
  echo "no matplotlib: nothing is drawn"
  exit 77
fi
cmp -s "$work/trials.svg.csv" "$work/expected" || die "picture: another table"
grep -q '<svg' "$work/trials.svg" || die "no SVG"
report "$work/trials.png" || die "PNG"
[ "$(head -c 4 "$work/trials.png" | tail -c 3)" = PNG ] || die "no PNG"
# An empty journal and a foreign table are refused with the reason.
rm "$out.journal"
report "$work/none.svg" && die "a picture of nothing"
grep -q 'no trials' "$work/log" || die "a picture of nothing: no reason"
echo 'a,b' >"$work/foreign.csv"
if "$(dirname "$tune")/chol-tune-plot" "$work/foreign.csv" "$work/foreign.svg" 2>"$work/log"; then die "a foreign table"; fi
grep -q 'not a CSV of chol-tune' "$work/log" || die "a foreign table: no reason"
echo passed
