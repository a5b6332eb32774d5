#!/bin/sh
# The installed chol-info: finds its library, prints correct values, and has a man page. Usage:
# info.sh PREFIX VERSION
set -eu
prefix=$1
info="$prefix/bin/chol-info"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH CHOL_TUNING CHOL_BACKEND

[ "$("$info" --version)" = "chol-info $2" ]
"$info" | grep '^host ' >/dev/null
"$info" --json >"$work/report.json"
cat "$work/report.json"
grep "\"version\": \"$2\"" "$work/report.json" >/dev/null
grep '"source": "built-in"' "$work/report.json" >/dev/null
library=$(sed -n 's/.*"library": "\(.*\)".*/\1/p' "$work/report.json")
[ "$(readlink -f "$library")" = "$(readlink -f "$(find "$prefix" -name libchol.so)")" ]
CHOL_NUM_THREADS=3 "$info" | grep 'threads  *3$' >/dev/null

# A tuning file for this machine, one for another, and an invalid one.
name=$(sed -n 's/.*"name": "\(host [^"]*\)".*/\1/p' "$work/report.json")
echo "{\"version\": 2, \"machines\": {\"$name\": []}}" >"$work/this.json"
echo '{"version": 2, "machines": {"host of another kind": []}}' >"$work/other.json"
echo '{"machines": ' >"$work/broken.json"
CHOL_TUNING="$work/this.json" "$info" | grep "tuning  *$work/this.json (0 rows)" >/dev/null
CHOL_TUNING="$work/other.json" "$info" | grep 'has no rows for this machine' >/dev/null
if CHOL_TUNING="$work/broken.json" "$info" >"$work/broken.txt"; then
  echo "FAILED: a broken tuning file went unnoticed"
  exit 1
fi
grep "$work/broken.json" "$work/broken.txt" >/dev/null

page="$prefix/share/man/man1/chol-info.1"
for option in $("$info" --help | grep -o -- '--[a-z]*' | sort -u); do
  sed 's/\\-/-/g' "$page" | grep -e "$option" >/dev/null ||
    { echo "FAILED: $option is not in the man page"; exit 1; }
done
