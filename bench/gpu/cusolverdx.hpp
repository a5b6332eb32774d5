// cuSOLVERDx as a contestant: its device functions in kernels that move a batch through shared
// memory. cuSOLVERDx is a library of device code, so kernels are built for each case, by libmathdx,
// NVRTC and nvJitLink, and kept in a folder, one file a case.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace chol::bench::dx {

constexpr int kCapability = 90;                      ///< what the kernels are built for
constexpr size_t kSharedBytes = 227 * size_t(1024);  ///< of a block there

enum class Routine { potrf, potrs, posv };

struct Case {
  Routine routine;
  char precision;  ///< s d c z
  int n, nrhs;     ///< lower triangle, lda = n; nrhs = 0 for potrf

  bool factors() const { return routine != Routine::potrs; }
  bool solves() const { return routine != Routine::potrf; }
  size_t element() const { return precision == 's' ? 4 : precision == 'z' ? 16 : 8; }
  std::string name() const;  ///< "posv_d_32_1"
};

/// Parameters of a pair of kernels (kKernelNames) for a case.
struct Variant {
  bool by_thread = false;  ///< a thread a matrix instead of a block
  int per_block = 1;       ///< matrices
  int ld = 0;              ///< of A in shared memory
  int threads = 0;         ///< of a block
};

/// Shared memory of the first or the second kernel of a pair.
size_t shared_bytes(const Case& what, const Variant& variant, int kernel);

struct Cubin {
  Variant variant;
  std::string code;
};

/// Empty if libmathdx is available; else the reason.
std::string builder_missing();

/// Every variant that libmathdx accepts; none if a matrix is too large. Needs no device.
std::vector<Cubin> build(const Case& what);

/// Builds the cases that the folder does not have, one process each, as many at a time as there are
/// processors. To be called before CUDA is initialized, since it forks. False, with a message, on
/// failure.
bool prepare(const std::vector<Case>& cases, const std::string& folder);

/// The kernels of a case, ready to be launched on the current device.
class Kernels {
 public:
  Kernels(const Case& what, const std::string& folder);
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  size_t count() const { return kernels_.size(); }
  std::string name(size_t k) const;  ///< "triangle, 4 a block, ld 36, 64 threads"

  /// Matrices and right sides are device arrays of pointers to dense arrays.
  void launch(size_t k, void* const* A, void* const* B, int* info, int64_t batch,
              cudaStream_t stream) const;

 private:
  struct Kernel {
    cudaKernel_t code;
    Variant variant;
    int which;  ///< of the pair
  };
  void load(const Cubin& cubin);

  Case case_;
  std::vector<cudaLibrary_t> libraries_;
  std::vector<Kernel> kernels_;
};

}  // namespace chol::bench::dx
