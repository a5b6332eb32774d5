#!/bin/sh
# The preset of the README with only the packages required by its build section: parts that need
# others are skipped, with a line each. Usage: configure.sh CMAKE SOURCE_FOLDER
set -eu
cmake=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# configure OPTION...: the lines about what is left out are in $work/left_out.
configure() {
  rm -rf "$work/build"
  (cd "$source" && "$cmake" --preset release -B "$work/build" -D CHOL_ENABLE_CUDA=OFF "$@") \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  sed -n 's/^-- chol: \(.*\) left out, /\1 /p' "$work/log" >"$work/left_out"
}
expect() {
  [ "$(cat "$work/left_out")" = "$1" ] || { echo "FAILED: $1 was expected"; cat "$work/log"; exit 1; }
}

configure -D CMAKE_DISABLE_FIND_PACKAGE_GTest=ON -D CMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON \
  -D CMAKE_Fortran_COMPILER=NOTFOUND
expect "tests are without GTest
benchmarks are without Eigen3
the Fortran module is without a Fortran compiler"
[ -e "$work/build/build.ninja" ] || { echo "FAILED: nothing to build"; exit 1; }

configure -D CHOL_BUILD_BENCH=OFF -D CHOL_ENABLE_FORTRAN=OFF \
  -D "CMAKE_IGNORE_PATH=/usr/include;/usr/include/$(cc -dumpmachine)"
expect "tests are without LAPACKE"
