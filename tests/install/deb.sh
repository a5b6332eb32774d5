#!/bin/sh
# Builds the Debian package, checks its dependencies and content, and unpacks it. Usage: deb.sh
# BUILD_FOLDER FOLDER VERSION
set -eu
build=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder/root"
(cd "$build" && cpack -G DEB -B "$folder")
package=$(find "$folder" -maxdepth 1 -name "chol_$3_*.deb")
dpkg-deb -I "$package"
depends=$(dpkg-deb -f "$package" Depends)
for need in libc6 libstdc++6; do
  case $depends in
    *$need*) ;;
    *) echo "FAILED: the package does not depend on $need"; exit 1 ;;
  esac
done
dpkg-deb -x "$package" "$folder/root"
for file in include/chol.h lib/libchol.so.0 lib/pkgconfig/chol.pc \
  lib/cmake/chol/chol-config.cmake bin/chol-info share/man/man1/chol-info.1 \
  lib/libchol_preload.so bin/chol-run share/man/man1/chol-run.1 \
  bin/chol-tune share/man/man1/chol-tune.1 \
  bin/chol-tune-plot share/man/man1/chol-tune-plot.1 \
  share/doc/chol/copyright; do
  [ -e "$folder/root/usr/$file" ] || { echo "FAILED: no $file in the package"; exit 1; }
done
