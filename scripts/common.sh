# Common parts of scripts/test and scripts/demo: required packages, and steps that show progress.
# Sourced by bash with the current folder at the top of the tree.

# Package names of Debian and Ubuntu. Each script uses the groups that it needs.
packages_library="g++ gcc cmake ninja-build nlohmann-json3-dev"
packages_build="$packages_library pkg-config ccache libcli11-dev libopenblas-dev"
packages_fortran="gfortran"
packages_demo="gnuplot-nox liblapacke-dev libopenblas-dev"
packages_quick="libgtest-dev liblapacke-dev liblapack-dev libblas-dev clang-format-14"
packages_test="libgtest-dev liblapacke-dev liblapack-dev libblas-dev libopenblas0-openmp
  libeigen3-dev binutils dpkg-dev file clang-format-14 clang-tidy libomp-dev doxygen man-db
  g++-aarch64-linux-gnu qemu-user python3-matplotlib
  liblapack-test python3-scipy python3-sklearn python3-pytest python3-hypothesis python3-venv r-base-core octave"

is_installed() {
  dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# need_packages NAME...: installs missing packages, or prints what to install and exits.
need_packages() {
  local missing=() name
  for name in "$@"; do
    is_installed "$name" || missing+=("$name")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "These packages are missing. As root:"
    echo "  apt-get install --no-install-recommends ${missing[*]}"
    exit 1
  fi
  step "update the package lists" apt-get update -q
  step "install ${#missing[@]} packages" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# step TITLE COMMAND...: runs the command with its output in a file, and prints the elapsed time and
# its last line every two seconds. On failure the end of the output is shown.
step() {
  local title=$1 log started=$SECONDS pid status=0 shown=0
  shift
  log=$(mktemp)
  printf '== %s\n' "$title"
  "$@" >"$log" 2>&1 &
  pid=$!
  while kill -0 $pid 2>/dev/null; do
    sleep 0.2
    if [ $((SECONDS - started)) -ge $((shown + 2)) ]; then
      shown=$((SECONDS - started))
      show_progress "$title" $shown "$log"
    fi
  done
  wait $pid || status=$?
  if [ -t 1 ]; then printf '\r\033[K'; fi
  if [ $status -ne 0 ]; then
    echo "   failed after $((SECONDS - started)) s; the end of its output:"
    tail -n 60 "$log" | sed 's/^/   | /'
  else
    echo "   done in $((SECONDS - started)) s"
  fi
  rm -f "$log"
  return $status
}

# On a terminal one line is updated; elsewhere a line is printed every twenty seconds.
show_progress() {
  local last
  last=$(tail -n 1 "$3" | tr -d '\r' | cut -c 1-80)
  if [ -t 1 ]; then
    printf '\r\033[K   %d s  %s' "$2" "$last"
  elif [ $(($2 % 20)) -lt 2 ]; then
    printf '   %d s  %s\n' "$2" "$last"
  fi
}
