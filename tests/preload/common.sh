# Common parts of the scripts of this folder. Sourced by sh; $preload is the library under test.

fail() {
  echo "FAILED: $*"
  exit 1
}

# The line by which CTest recognizes a skipped test.
skip() {
  echo "SKIPPED: $*"
  exit 77
}

# with_preload REPORT COMMAND...: runs a command under the preload; the report of intercepted calls
# is appended to the file REPORT.
with_preload() {
  report=$1
  shift
  CHOL_REPORT=$report LD_PRELOAD=$preload "$@"
}

# expect_intercepted REPORT ROUTINE...: chol computed at least one call of each of the routines.
expect_intercepted() {
  report=$1
  shift
  for routine in "$@"; do
    grep -q "^  $routine .*chol, \(host\|CUDA\)$" "$report" ||
      fail "chol did no $routine: $(cat "$report")"
  done
}
