#!/bin/sh
# chol-tune on a device, without one: with a simulated driver and backend.
#   tune_device.sh CHOL_TUNE CHOL_INFO DRIVER BACKEND
# DRIVER is in a folder as libcuda.so.1.
set -eu
tune=$1 info=$2 driver=$3 backend=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CHOL_TUNING CHOL_BACKEND
export XDG_CONFIG_HOME="$work/config" CHOL_CUDA_PLUGIN="$backend" CHOL_NUM_THREADS=1
LD_LIBRARY_PATH=$(dirname "$driver")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
out=$work/plans.json
run() { "$tune" --quick --precisions d --trial-ms 0.1 --output "$out" "$@" >"$work/said" 2>"$work/log"; }
die() {
  echo "FAILED: $*"
  cat "$work/said" "$work/log"
  exit 1
}

run --device cuda || die "first run"
grep -q 'plans of cuda stand-in' "$work/said" || die "no result"
grep -q '\[25/25\]' "$work/log" || die "no progress"
grep -q '"cuda stand-in"' "$out" || die "no rows"
for form in one batch interleaved; do grep -q "\"$form\"" "$out" || die "no rows of form $form"; done
# Refused, wrong and crashing plans are recorded as such and never chosen.
rates() { sed -n "s/.*\"key\":\"[^|]*|$1|0\",\"gflops\":\(.*\)}/\1/p" "$out.journal" | sort -u; }
for bad in 'interleaved_registers threads 128' 'interleaved_registers threads 64' 'interleaved_warps matrices 1 warps 4'; do
  [ "$(rates "$bad")" = 0.0 ] || die "plan $bad: rates $(rates "$bad")"
done
grep -q 'left .*threads 64$' "$work/log" && die "a plan with wrong results has won"
CHOL_TUNING=$out "$info" --json >"$work/said" 2>"$work/log" || die "the library refuses the file"

# Complete, nothing is measured again.
cp "$out.journal" "$work/before"
run --device cuda || die "run on a complete journal"
cmp -s "$out.journal" "$work/before" || die "a complete journal grew"

run --device cuda --report || die "report"
grep -q 'built-in plan at' "$work/said" || die "report: distance of the default"
grep -q 'potrf batch d, 0 to' "$work/said" || die "report: picture"

# One form only, with a larger order than for batches.
run --device cuda --forms one --orders 512,1100 --routines potrf || die "form one"
grep -q '\[2/2\].*potrf one d 1100' "$work/log" || die "form one: other points"
if run --forms two; then die "a form that there is not"; fi
grep -q 'no such form: two' "$work/log" || die "a form that there is not: no reason"
run --device cuda --report || die "report"

# The device's failed plans in the table, once each.
run --device cuda --report "$work/trials.csv" || die "table"
grep -q '^"cuda stand-in",potrf,interleaved,d,8,.*,failed,1,,,0,0$' "$work/trials.csv" || die "table: no failed plan"
[ "$(cut -d , -f 1-6 "$work/trials.csv" | sort | uniq -d | wc -l)" -eq 0 ] || die "table: a plan twice"

# Both backends into one file.
run --routines potrf || die "both backends"
grep -q '"cuda stand-in"' "$out" || die "the device's rows are gone"
grep -q '"host ' "$out" || die "no rows of the host"

# Compiled shapes are tried where that is not ruled out.
"$tune" --device cuda --routines potrs --precisions z --orders 24 --trial-ms 0.1 --output "$work/full.json" \
  >"$work/said" 2>"$work/log" || die "full run"
grep -q 'interleaved_shared columns 3' "$work/full.json.journal" || die "no shape that is not built"
"$tune" --device cuda --routines potrs --precisions z --orders 24 --output "$work/full.json" \
  --report "$work/full.csv" >"$work/said" 2>"$work/log" || die "table of a full run"
grep -q ',ruled out,0,,,0,0$' "$work/full.csv" || die "table: no plan that the model rules out"

"$tune" --device cuda --routines potrf --precisions d --orders 8 --trial-ms 0.1 \
  --output "$work/small.json" >"$work/said" 2>"$work/log" || die "one order"
for order in '' ' looking 1' ' looking 2' ' unrolled 1' ' looking 1 unrolled 1' ' looking 2 unrolled 1'; do
  grep -q "interleaved_tiled tile .$order threads 32" "$work/small.json.journal" || die "no plan of tiles$order"
done
"$tune" --device cuda --routines potrf --precisions d --orders 8 --report --output "$work/small.json" \
  >"$work/said" 2>"$work/log" || die "report of one order"
grep -q 'interleaved_tiled tile .* looking 2 unrolled 1 threads 32' "$work/said" || die "report: no plan of tiles"

# Without a device.
export CHOL_TEST_NO_DEVICE=1
if run --device cuda; then die "no device"; fi
grep -q 'no CUDA device' "$work/log" || die "no device: no reason"
run --routines potrf || die "no device: the host"

# Arguments.
for wrong in '--device abacus' '--precisions q' '--routines potrx' '--trial-ms 0' '--threads 0'; do
  # shellcheck disable=SC2086
  if run --device host $wrong; then die "taken: $wrong"; fi
  [ -s "$work/log" ] || [ -s "$work/said" ] || die "no reason: $wrong"
done
if "$tune" --device host --quick --output /nowhere/plans.json >"$work/said" 2>"$work/log"; then
  die "an output that cannot be written"
fi
echo passed
