#!/bin/bash
# Concurrent programs on one device under the multi-process service, whose kernels share the
# multiprocessors: mps.sh PROGRAM... Each runs twice, the second time limited to a few
# multiprocessors. A kernel that waits for a block that cannot start would hang. Prints SKIPPED
# without the service.
set -u
if ! command -v nvidia-cuda-mps-control > /dev/null; then
  echo "SKIPPED: no nvidia-cuda-mps-control"
  exit 0
fi
folder=$(mktemp -d)
export CUDA_MPS_PIPE_DIRECTORY=$folder/pipe CUDA_MPS_LOG_DIRECTORY=$folder/log
mkdir "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
if ! nvidia-cuda-mps-control -d; then
  echo "SKIPPED: the service does not start"
  exit 0
fi
failures=0
for share in 100 5; do
  programs=()
  for program in "$@"; do
    CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=$share timeout "${CHOL_TEST_SECONDS:-300}" \
      $program > "$folder/${#programs[@]}" 2>&1 &
    programs+=($!)
  done
  for k in "${!programs[@]}"; do
    wait "${programs[$k]}" || failures=$((failures + 1))
    echo "share $share: $(tail -n 1 "$folder/$k")"
  done
done
echo quit | nvidia-cuda-mps-control
cat "$CUDA_MPS_LOG_DIRECTORY"/server.log 2> /dev/null | tail -n 3
rm -rf "$folder"
[ $failures = 0 ] && echo PASSED || echo "FAILED: $failures"
exit $((failures != 0))
