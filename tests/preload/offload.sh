#!/bin/sh
# Matrices that are offloaded to a device, simulated by a plug-in, which is not opened for others.
# Usage: offload.sh PRELOAD PROGRAM PLUGIN
set -eu
preload=$1
program=$2
plugin=$3
. "$(dirname "$0")/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run OFFLOAD PLUGIN CASE: the table is in $work/report, the output in $work/said.
run() {
  rm -f "$work/report"
  CHOL_OFFLOAD=$1 CHOL_CUDA_PLUGIN=$2 CHOL_VERBOSE=1 with_preload "$work/report" \
    timeout 120 "$program" "$3" >"$work/said" 2>&1 || fail "$3 with CHOL_OFFLOAD=$1: $(cat "$work/said")"
}
ran_on_device() { grep -q "^  dpotrf .*chol, CUDA$" "$work/report"; }

run always "$plugin" large
ran_on_device || fail "always: $(cat "$work/report")"
grep -q "# recording" "$work/said" || fail "no line of a call on the device: $(cat "$work/said")"

# Small matrices, never, auto before it pays, and no device: the host, and nothing is opened for it.
for case in "always plain" "never large" "auto large" "maybe large"; do
  run "${case% *}" /nowhere/plugin.so "${case#* }"
  if ran_on_device; then fail "$case: $(cat "$work/report")"; fi
  if grep -q "no offload" "$work/said"; then fail "$case opens: $(cat "$work/said")"; fi
done
grep -q "CHOL_OFFLOAD = maybe, must be never, auto or always" "$work/said" || fail "$(cat "$work/said")"
run always /nowhere/plugin.so large
if ran_on_device; then fail "no device: $(cat "$work/report")"; fi
grep -q "# chol: no offload: .*/nowhere/plugin.so" "$work/said" || fail "$(cat "$work/said")"
CHOL_TEST_FAIL_AFTER=111 run always "$plugin" large
if ran_on_device; then fail "a lost device: $(cat "$work/report")"; fi

# Several devices, which all work; a missing one is reported, with and without CHOL_VERBOSE.
CHOL_DEVICES=0,1 run always "$plugin" large
ran_on_device || fail "several devices: $(cat "$work/report")"
grep -q "# recording, 2 devices" "$work/said" || fail "no line of two devices: $(cat "$work/said")"
export CHOL_DEVICES=0,7 CHOL_TEST_DEVICES=2
run always "$plugin" large
if ran_on_device; then fail "device 7: $(cat "$work/report")"; fi
grep -q "^# chol: no offload: CHOL_DEVICES, number 2: device 7, must be in 0 .. 1" "$work/said" || fail "$(cat "$work/said")"
CHOL_OFFLOAD=always CHOL_CUDA_PLUGIN=$plugin LD_PRELOAD=$preload "$program" large >"$work/said" 2>&1
grep -q "^chol: no offload: CHOL_DEVICES, number 2: device 7, must be in 0 .. 1" "$work/said" || fail "$(cat "$work/said")"
