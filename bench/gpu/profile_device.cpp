// Runs cases once each for a profiler, which bench/profile starts: the profile contains only the
// kernels of a call, after a marker kernel that counts the cases.
//   profile_device ROUTINE,PRECISION,UPLO,N[,NRHS or CHUNK]...
// ROUTINE is potrf, posv or potrs, of column-major batches as bench_device has them, or one of
// those with _interleaved behind it, as bench_interleaved has them, whose UPLO is L.
#include <cuda_profiler_api.h>

#include <sstream>

#include "batched_case.hpp"
#include "case_marker.hpp"
#include "packed_batch.hpp"

namespace chol::bench {
namespace {

/// As large as the timed ones if that affects the number of waves.
constexpr int64_t kBytes = 200000000, kFewest = 1000;

struct Wanted {
  std::string routine;
  char precision = 's';
  chol_uplo_t uplo = CHOL_LOWER;
  int64_t n = 0, extra = 0;
};

bool parse(const std::string& text, Wanted& wanted) {
  std::istringstream in(text);
  std::string precision, uplo, n, extra;
  std::getline(in, wanted.routine, ',');
  std::getline(in, precision, ',');
  std::getline(in, uplo, ',');
  std::getline(in, n, ',');
  std::getline(in, extra, ',');
  if (precision.size() != 1 || std::strchr("sdcz", precision[0]) == nullptr) return false;
  if (uplo != "L" && uplo != "U") return false;
  wanted.precision = precision[0];
  wanted.uplo = uplo == "L" ? CHOL_LOWER : CHOL_UPPER;
  wanted.n = std::atoll(n.c_str());
  wanted.extra = std::atoll(extra.c_str());
  return wanted.n > 0;
}

template <class Run>
void profile(int number, Run&& run) {
  CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
  CHOL_TEST_CUDA(cudaProfilerStart());
  mark_case(number, stream);
  run();
  CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
  CHOL_TEST_CUDA(cudaProfilerStop());
}

template <class T>
bool run_interleaved(int number, const Wanted& wanted) {
  if (wanted.uplo != CHOL_LOWER) return false;
  const int64_t n = wanted.n;
  const PackedBatch<T> P(n, wanted.extra, kBytes / int64_t(n * n * sizeof(T)));
  P.restore();
  if (wanted.routine == "potrf_interleaved") {
    profile(number, [&] { P.potrf(); });
  } else if (wanted.routine == "posv_interleaved") {
    profile(number, [&] { P.posv(); });
  } else if (wanted.routine == "potrs_interleaved") {
    P.potrf();
    profile(number, [&] { P.potrs(); });
  } else {
    return false;
  }
  return true;
}

template <class T>
bool run_case(int number, const Wanted& wanted) {
  if (wanted.routine.find("_interleaved") != std::string::npos)
    return run_interleaved<T>(number, wanted);
  const bool solves = wanted.routine != "potrf";
  if (solves && wanted.routine != "posv" && wanted.routine != "potrs") return false;
  const int64_t n = wanted.n, nrhs = solves ? std::max<int64_t>(wanted.extra, 1) : 0;
  const int64_t batch = std::max(kBytes / int64_t(n * n * sizeof(T)), kFewest);
  const BatchedCase<T> its(wanted.uplo, n, nrhs, batch, wanted.routine != "potrs");
  its.restore();
  profile(number, [&] { its.run(); });
  return true;
}

bool run(int number, const Wanted& wanted) {
  switch (wanted.precision) {
    case 's':
      return run_case<float>(number, wanted);
    case 'd':
      return run_case<double>(number, wanted);
    case 'c':
      return run_case<std::complex<float>>(number, wanted);
    default:
      return run_case<std::complex<double>>(number, wanted);
  }
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  using namespace chol::bench;
  if (!chol::test::device_present()) return 0;
  if (!open_handle()) return 1;
  for (int k = 1; k < argc; ++k) {
    Wanted wanted;
    if (!parse(argv[k], wanted) || !run(k - 1, wanted)) {
      std::fprintf(stderr, "profile_device: not a case: %s\n", argv[k]);
      return 2;
    }
  }
  chol_destroy(handle);
  return 0;
}
