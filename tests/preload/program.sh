#!/bin/sh
# A program that may not be on this machine, the same with and without the preload.
# Usage: program.sh PRELOAD "ROUTINE..." NEEDED_COMMAND PROGRAM [ARGUMENT...]; NEEDED_COMMAND, a shell
# command, tells by its status whether the test can run.
set -eu
. "$(dirname "$0")/common.sh"
preload=$1
routines=$2
sh -c "$3" >/dev/null 2>&1 || skip "$3 fails here"
shift 3
exec "$(dirname "$0")/same_output.sh" "$preload" "$routines" "$@"
