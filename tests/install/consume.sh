#!/bin/sh
# Builds the programs of consumer/ outside the tree against an installed chol, and runs them.
# Usage: consume.sh PREFIX pkg_config|find_package c|fortran
set -eu
prefix=$1
how=$2
language=$3
source=$(cd "$(dirname "$0")/consumer" && pwd)
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Only the installed tree may be found.
libdir=$(dirname "$(find "$prefix" -name 'libchol.so')")
export PKG_CONFIG_PATH="$libdir/pkgconfig" CMAKE_PREFIX_PATH="$prefix"

with_pkg_config() {
  module=chol
  [ "$language" = fortran ] && module=chol_fortran
  cflags=$(pkg-config --cflags $module)
  libs=$(pkg-config --libs $module)
  export LD_LIBRARY_PATH="$libdir"
  if [ "$language" = fortran ]; then
    gfortran -Wall $cflags "$source/consumer.f90" -o consumer $libs
    ./consumer
    # As README.md says it.
    gfortran "$examples/hello.f90" $(pkg-config --cflags --libs chol_fortran) -o hello
    ./hello | grep '1.0* *2.0* *3.0*' >/dev/null
  else
    cc -std=c99 -Wall -Wextra -pedantic -Werror $cflags "$source/consumer.c" -o consumer $libs -lm
    ./consumer
    c++ -std=c++11 -Wall -Wextra -pedantic -Werror $cflags "$source/consumer.cpp" -o consumer_cxx $libs
    ./consumer_cxx
    cc "$examples/hello.c" $(pkg-config --cflags --libs chol) -o hello
    [ "$(./hello)" = 'x = 1 2 3' ]
  fi
  found=$(ldd ./consumer | sed -n 's/.*libchol.so.0 => \([^ ]*\) .*/\1/p')
  [ "$(readlink -f "$found")" = "$(readlink -f "$libdir/libchol.so.0")" ]
}

with_find_package() {
  fortran=OFF
  [ "$language" = fortran ] && fortran=ON
  cmake -S "$source" -B . -DCONSUMER_FORTRAN=$fortran >configure.log 2>&1 ||
    { cat configure.log; exit 1; }
  grep "chol_DIR:PATH=$(readlink -f "$prefix")" CMakeCache.txt >/dev/null ||
    grep "chol_DIR:PATH=$prefix" CMakeCache.txt
  cmake --build . >build.log 2>&1 || { cat build.log; exit 1; }
  if [ "$language" = fortran ]; then
    ./consumer_fortran
  else
    ./consumer_c
    ./consumer_cxx
  fi
}

with_"$how"
