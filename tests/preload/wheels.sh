#!/bin/sh
# NumPy and SciPy from PyPI, whose OpenBLAS has other symbol names (scipy_dpotrf_64_), in a virtual
# environment that the tests of this folder use. SKIPPED when pip reaches no index. Usage: wheels.sh
# FOLDER
set -eu
. "$(dirname "$0")/common.sh"
folder=$1
[ -x "$folder/bin/python" ] && "$folder/bin/python" -c 'import scipy, numpy, pytest, hypothesis' 2>/dev/null && exit 0
rm -rf "$folder"
/usr/bin/python3 -m venv "$folder" 2>/dev/null || python3 -m venv "$folder" || skip "no venv"
timeout 300 "$folder/bin/python" -m pip install -q --only-binary=:all: numpy scipy pytest hypothesis ||
  { rm -rf "$folder"; skip "pip reaches no index"; }
