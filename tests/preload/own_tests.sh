#!/bin/sh
# The Cholesky and solve parts of SciPy's and NumPy's own test suites pass under the preload.
# Usage: own_tests.sh PRELOAD PYTHON
set -eu
preload=$1
python=$2
. "$(dirname "$0")/common.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -c 'import hypothesis, pytest, scipy.linalg.tests, numpy.linalg.tests' 2>/dev/null ||
  skip "$python has no SciPy, NumPy or pytest"
cd "$work"
folder=$("$python" -c 'import os, scipy.linalg as l; print(os.path.dirname(l.__file__))')/tests
numpy=$("$python" -c 'import os, numpy.linalg as l; print(os.path.dirname(l.__file__))')/tests
with_preload "$work/report" "$python" -m pytest -q -p no:cacheprovider -W ignore --override-ini=addopts= \
  "$folder/test_decomp_cholesky.py" "$folder/test_basic.py" "$numpy/test_linalg.py" \
  -k "holesky or cho_ or TestSolve or potr or posv" >"$work/said" 2>&1 || fail "$(tail -n 40 "$work/said")"
tail -n 1 "$work/said"
expect_intercepted "$work/report" dpotrf
grep 'chol, host' "$work/report"
