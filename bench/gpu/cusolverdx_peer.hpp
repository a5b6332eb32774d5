// bench_device's mode "dx": cuSOLVERDx compared with chol, each case by its fastest kernel, after
// comparing the results of each kernel with chol's.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "batched_case.hpp"
#include "cusolverdx.hpp"

namespace chol::bench {

/// The first and the last matrices of a batch, and their results.
template <class T>
struct Sample {
  std::vector<T> A, B;
  std::vector<int> info;

  explicit Sample(const BatchedCase<T>& c) {
    CHOL_TEST_CUDA(cudaStreamSynchronize(stream));
    A = ends(c.A.work.data(), c.n * c.n, c.batch);
    B = ends(c.B.work.data(), c.n * c.nrhs, c.batch);
    info = ends(c.A.info.data(), 1, c.batch);
  }

 private:
  template <class Element>
  static std::vector<Element> ends(const Element* data, int64_t size, int64_t batch) {
    const int64_t count = std::min<int64_t>(batch, 200) * size;
    std::vector<Element> both(2 * count);
    if (count == 0) return both;
    const size_t bytes = sizeof(Element) * count;
    CHOL_TEST_CUDA(cudaMemcpy(both.data(), data, bytes, cudaMemcpyDeviceToHost));
    CHOL_TEST_CUDA(cudaMemcpy(both.data() + count, data + batch * size - count, bytes,
                              cudaMemcpyDeviceToHost));
    return both;
  }
};

/// Largest difference over the largest element of the result; infinite if there is a NaN.
template <class T, class Wanted>
double difference(const std::vector<T>& x, const std::vector<T>& y, const Wanted& wanted) {
  double largest = 0, most = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    if (!wanted(k)) continue;
    const double apart = std::abs(x[k] - y[k]);
    if (!std::isfinite(apart)) return std::numeric_limits<double>::infinity();
    most = std::max(most, apart);
    largest = std::max(largest, double(std::abs(y[k])));
  }
  return most > 0 ? most / largest : 0;
}

inline std::string cubin_folder;  ///< of the kernels around cuSOLVERDx
inline bool cusolverdx_was_wrong = false;

template <class T>
bool same_result(const BatchedCase<T>& c, const Sample<T>& theirs, const Sample<T>& chols) {
  const auto in_triangle = [&](size_t k) {
    const int64_t place = int64_t(k) % (c.n * c.n);
    return place % c.n >= place / c.n;
  };
  const double tolerance = sizeof(Real<T>) == 4 ? 1e-3 : 1e-10;
  return difference(theirs.A, chols.A, in_triangle) < tolerance &&
         difference(theirs.B, chols.B, [](size_t) { return true; }) < tolerance &&
         theirs.info == chols.info;
}

template <class T>
PeerTime cusolverdx(const BatchedCase<T>& c) {
  const dx::Routine routine = !c.factors    ? dx::Routine::potrs
                              : c.nrhs == 0 ? dx::Routine::potrf
                                            : dx::Routine::posv;
  const dx::Case what{routine, letter_of(T{}), int(c.n), int(c.nrhs)};
  const dx::Kernels kernels(what, cubin_folder);
  const auto launch = [&](size_t k) {
    kernels.launch(k, reinterpret_cast<void* const*>(c.A.pointers.data()),
                   reinterpret_cast<void* const*>(c.B.pointers.data()), c.A.info.data(), c.batch,
                   stream);
  };
  c.restore();
  c.run();
  const Sample<T> chols(c);
  PeerTime best{"cusolverdx", 0};
  std::string best_name = "not supported";
  for (size_t k = 0; k < kernels.count(); ++k) {
    c.restore();
    // Output memory is invalidated, so that unwritten results are detected.
    if (c.factors)
      CHOL_TEST_CUDA(cudaMemsetAsync(c.A.info.data(), 0xff, sizeof(int) * c.batch, stream));
    launch(k);
    if (!same_result(c, Sample<T>(c), chols)) {
      std::fprintf(stderr, "cusolverdx: %s: %s: wrong result, left out\n", what.name().c_str(),
                   kernels.name(k).c_str());
      cusolverdx_was_wrong = true;
      continue;
    }
    const double ms = median_ms([&] { c.restore(); }, [&] { launch(k); });
    if (best.ms > 0 && ms >= best.ms) continue;
    best.ms = ms;
    best_name = kernels.name(k);
  }
  std::printf("# %s: %s\n", what.name().c_str(), best_name.c_str());
  return best;
}

/// @param wanted orders, or none for all of them.
inline std::vector<dx::Case> cusolverdx_cases(char precision, const std::vector<int64_t>& wanted) {
  std::vector<dx::Case> all;
  for (int n : {4, 8, 12, 16, 20, 24, 28, 32, 33, 40, 48, 64, 65, 80, 96, 112, 128})
    all.push_back({dx::Routine::potrf, precision, n, 0});
  for (int n : {4, 8, 16, 32, 64}) all.push_back({dx::Routine::posv, precision, n, 1});
  for (int nrhs : {1, 16})
    for (int n : {8, 16, 32, 64, 128}) all.push_back({dx::Routine::potrs, precision, n, nrhs});
  if (!wanted.empty())
    std::erase_if(all, [&](const dx::Case& c) {
      return std::find(wanted.begin(), wanted.end(), c.n) == wanted.end();
    });
  return all;
}

/// Folder of the kernels: CHOL_LIBMATHDX_CUBINS, else a temporary one.
class CubinFolder {
 public:
  CubinFolder() {
    const char* const kept = std::getenv("CHOL_LIBMATHDX_CUBINS");
    std::string path = std::filesystem::temp_directory_path() / "chol-cusolverdx-XXXXXX";
    if (!kept && mkdtemp(path.data())) own_ = path;
    cubin_folder = kept ? kept : own_;
  }
  ~CubinFolder() {
    if (!own_.empty()) std::filesystem::remove_all(own_);
  }
  CubinFolder(const CubinFolder&) = delete;
  CubinFolder& operator=(const CubinFolder&) = delete;

  bool prepare(const std::string& precisions, const std::vector<int64_t>& orders) const {
    std::vector<dx::Case> cases;
    for (char p : precisions)
      for (const dx::Case& c : cusolverdx_cases(p, orders)) cases.push_back(c);
    return dx::prepare(cases, cubin_folder);
  }

 private:
  std::string own_;
};

}  // namespace chol::bench
