# What the scripts of this folder share. Sourced by sh; $preload is the library under test.

fail() {
  echo "FAILED: $*"
  exit 1
}

# The line that CTest takes for a skipped test.
skip() {
  echo "SKIPPED: $*"
  exit 77
}

# with_preload REPORT COMMAND...: runs a command under the preload; what was caught is appended to
# the file REPORT.
with_preload() {
  report=$1
  shift
  CHOL_REPORT=$report LD_PRELOAD=$preload "$@"
}

# expect_caught REPORT ROUTINE...: chol itself did work in each of the routines.
expect_caught() {
  report=$1
  shift
  for routine in "$@"; do
    grep -q "^  $routine .*chol, \(host\|CUDA\)$" "$report" ||
      fail "chol did no $routine: $(cat "$report")"
  done
}
