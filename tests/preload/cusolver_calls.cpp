// Calls every cuSOLVER function that the preload intercepts, on batches and on one matrix, through
// a stream, with good and bad matrices and arguments, and in a captured graph, and prints
// everything that a caller can see except rounding. It does not use chol: its output must be the
// same with and without the preload.
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "preload/small_matrix.hpp"

using namespace chol::test::preload;

namespace {

#define CHECK(call)                                                \
  do {                                                             \
    const int failed = static_cast<int>(call);                     \
    if (failed != 0) {                                             \
      std::printf("line %d: %s is %d\n", __LINE__, #call, failed); \
      std::exit(1);                                                \
    }                                                              \
  } while (false)

template <class T>
struct Cusolver;
#define CHOL_DEFINE_CUSOLVER(P, T, C, type_)                            \
  template <>                                                           \
  struct Cusolver<T> {                                                  \
    using Element = C;                                                  \
    static constexpr char letter = #P[0];                               \
    static constexpr cudaDataType type = type_;                         \
    static constexpr auto potrf_size = cusolverDn##P##potrf_bufferSize; \
    static constexpr auto potrf = cusolverDn##P##potrf;                 \
    static constexpr auto potrs = cusolverDn##P##potrs;                 \
    static constexpr auto potri_size = cusolverDn##P##potri_bufferSize; \
    static constexpr auto potri = cusolverDn##P##potri;                 \
    static constexpr auto potrf_batched = cusolverDn##P##potrfBatched;  \
    static constexpr auto potrs_batched = cusolverDn##P##potrsBatched;  \
  };
CHOL_DEFINE_CUSOLVER(S, float, float, CUDA_R_32F)
CHOL_DEFINE_CUSOLVER(D, double, double, CUDA_R_64F)
CHOL_DEFINE_CUSOLVER(C, std::complex<float>, cuComplex, CUDA_C_32F)
CHOL_DEFINE_CUSOLVER(Z, std::complex<double>, cuDoubleComplex, CUDA_C_64F)

cusolverDnHandle_t handle;
cudaStream_t stream;

template <class E>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    CHECK(cudaMalloc(&data_, (count ? count : 1) * sizeof(E)));
  }
  explicit DeviceArray(const std::vector<E>& from) : DeviceArray(from.size()) { write(from); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  E* data() const { return data_; }
  void write(const std::vector<E>& from) {
    CHECK(cudaMemcpy(data_, from.data(), count_ * sizeof(E), cudaMemcpyHostToDevice));
  }
  std::vector<E> read() const {
    std::vector<E> to(count_);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(to.data(), data_, count_ * sizeof(E), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  size_t count_;
  E* data_ = nullptr;
};

cublasFillMode_t fill_of(char uplo) {
  return uplo == 'L' ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}

/// A batch of matrices, every third of them damaged.
template <class T>
struct MatrixBatch {
  using E = typename Cusolver<T>::Element;
  MatrixBatch(char uplo_, int n, int count, Damage damage) : uplo(uplo_), n(n) {
    std::vector<E*> first;
    for (int b = 0; b < count; ++b) {
      inputs.emplace_back(uplo, n, n + 1);
      if (b % 3 == 1) inputs.back().damage(damage, n / 2);
      on_device.push_back(std::make_unique<DeviceArray<T>>(inputs.back().elements()));
      first.push_back(reinterpret_cast<E*>(on_device.back()->data()));
    }
    pointers = std::make_unique<DeviceArray<E*>>(first);
    info = std::make_unique<DeviceArray<int>>(std::vector<int>(count, -99));
  }
  int count() const { return static_cast<int>(inputs.size()); }
  SmallMatrix<T> result(int b) const {
    SmallMatrix<T> matrix = inputs[b];
    matrix.elements() = on_device[b]->read();
    return matrix;
  }
  /// cuSOLVER's own batches write outside the named triangle at some orders.
  void print(const char* what) const {
    const std::vector<int> all = info->read();
    for (int b = 0; b < count(); ++b)
      std::printf("%c%s %c n=%d matrix %d: info=%d %s\n", Cusolver<T>::letter, what, uplo, n, b,
                  all[b], result(b).judge_columns(inputs[b], all[b]));
  }
  char uplo;
  int n;
  std::vector<SmallMatrix<T>> inputs;
  std::vector<std::unique_ptr<DeviceArray<T>>> on_device;
  std::unique_ptr<DeviceArray<E*>> pointers;
  std::unique_ptr<DeviceArray<int>> info;
};

template <class T>
void solve_batch(MatrixBatch<T>& batch) {
  using E = typename Cusolver<T>::Element;
  std::vector<SmallRhs<T>> rhs;
  std::vector<std::unique_ptr<DeviceArray<T>>> on_device;
  std::vector<E*> first;
  for (int b = 0; b < batch.count(); ++b) {
    rhs.emplace_back(batch.inputs[b], 1, batch.n + 2);
    on_device.push_back(std::make_unique<DeviceArray<T>>(rhs.back().elements()));
    first.push_back(reinterpret_cast<E*>(on_device.back()->data()));
  }
  const DeviceArray<E*> pointers(first);
  DeviceArray<int> info(std::vector<int>(1, -99));
  const int status = Cusolver<T>::potrs_batched(
      handle, fill_of(batch.uplo), batch.n, 1, batch.pointers->data(), batch.n + 1, pointers.data(),
      batch.n + 2, info.data(), batch.count());
  std::printf("%cpotrsBatched n=%d: %d info=%d\n", Cusolver<T>::letter, batch.n, status,
              info.read()[0]);
  for (int b = 0; b < batch.count(); ++b) {
    const std::vector<T> solved = on_device[b]->read();
    std::copy(solved.begin(), solved.end(), rhs[b].data());
    std::printf("  %s\n", rhs[b].judge(true));
  }
}

template <class T>
void batches(char uplo, int n, Damage damage) {
  MatrixBatch<T> batch(uplo, n, 5, damage);
  CHECK(Cusolver<T>::potrf_batched(handle, fill_of(uplo), n, batch.pointers->data(), n + 1,
                                   batch.info->data(), batch.count()));
  batch.print("potrfBatched");
  if (damage == Damage::none) solve_batch(batch);
}

/// The factorization as a graph that is replayed.
template <class T>
void captured(int n) {
  MatrixBatch<T> batch('L', n, 4, Damage::negative);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(Cusolver<T>::potrf_batched(handle, CUBLAS_FILL_MODE_LOWER, n, batch.pointers->data(), n + 1,
                                   batch.info->data(), batch.count()));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int replay = 0; replay < 2; ++replay) {
    for (int b = 0; b < batch.count(); ++b) batch.on_device[b]->write(batch.inputs[b].elements());
    CHECK(cudaGraphLaunch(executable, stream));
    batch.print("potrfBatched in a graph");
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

template <class T>
void one_matrix(char uplo, int n, Damage damage, int nrhs = 3) {
  using E = typename Cusolver<T>::Element;
  MatrixBatch<T> one(uplo, n, 2, damage);  // the second is the damaged one
  E* A = reinterpret_cast<E*>(one.on_device[1]->data());
  int* info = one.info->data() + 1;
  int factor_size = 0, inverse_size = 0;
  CHECK(Cusolver<T>::potrf_size(handle, fill_of(uplo), n, A, n + 1, &factor_size));
  CHECK(Cusolver<T>::potri_size(handle, fill_of(uplo), n, A, n + 1, &inverse_size));
  const int size = factor_size > inverse_size ? factor_size : inverse_size;
  const DeviceArray<E> work(size);
  CHECK(Cusolver<T>::potrf(handle, fill_of(uplo), n, A, n + 1, work.data(), size, info));
  const int factored = one.info->read()[1];
  std::printf("%cpotrf %c n=%d: info=%d %s\n", Cusolver<T>::letter, uplo, n, factored,
              one.result(1).judge_factor(one.inputs[1], factored));
  if (factored != 0) return;
  SmallRhs<T> rhs(one.inputs[1], nrhs, n);
  const DeviceArray<T> B(rhs.elements());
  CHECK(Cusolver<T>::potrs(handle, fill_of(uplo), n, nrhs, A, n + 1, reinterpret_cast<E*>(B.data()),
                           n, info));
  const std::vector<T> solved = B.read();
  std::copy(solved.begin(), solved.end(), rhs.data());
  CHECK(Cusolver<T>::potri(handle, fill_of(uplo), n, A, n + 1, work.data(), size, info));
  std::printf("%cpotrs %s, potri info=%d %s\n", Cusolver<T>::letter, rhs.judge(true),
              one.info->read()[1], one.result(1).judge_inverse(one.inputs[1]));
}

template <class T>
void generic(int n, int nrhs) {
  MatrixBatch<T> one('L', n, 1, Damage::none);
  void* A = one.on_device[0]->data();
  const cudaDataType type = Cusolver<T>::type;
  cusolverDnParams_t parameters = nullptr;
  CHECK(cusolverDnCreateParams(&parameters));
  size_t device_bytes = 0, host_bytes = 0;
  CHECK(cusolverDnXpotrf_bufferSize(handle, parameters, CUBLAS_FILL_MODE_LOWER, n, type, A, n + 1,
                                    type, &device_bytes, &host_bytes));
  const DeviceArray<char> work(device_bytes);
  std::vector<char> host_work(host_bytes + 1);
  CHECK(cusolverDnXpotrf(handle, parameters, CUBLAS_FILL_MODE_LOWER, n, type, A, n + 1, type,
                         work.data(), device_bytes, host_work.data(), host_bytes,
                         one.info->data()));
  one.print("Xpotrf");
  SmallRhs<T> rhs(one.inputs[0], nrhs, n);
  const DeviceArray<T> B(rhs.elements());
  CHECK(cusolverDnXpotrs(handle, parameters, CUBLAS_FILL_MODE_LOWER, n, nrhs, type, A, n + 1, type,
                         B.data(), n, one.info->data()));
  const std::vector<T> solved = B.read();
  std::copy(solved.begin(), solved.end(), rhs.data());
  std::printf("Xpotrs %s\n", rhs.judge(true));
  cusolverDnDestroyParams(parameters);
}

template <class T>
void wrong_arguments() {
  MatrixBatch<T> batch('L', 4, 2, Damage::none);
  const auto factor = [&](int n, int lda, int count) {
    return static_cast<int>(Cusolver<T>::potrf_batched(
        handle, CUBLAS_FILL_MODE_LOWER, n, batch.pointers->data(), lda, batch.info->data(), count));
  };
  std::printf("%c wrong arguments: %d %d %d %d\n", Cusolver<T>::letter, factor(-1, 5, 2),
              factor(4, 3, 2), factor(4, 5, -1), factor(0, 5, 2));
}

template <class T>
void all() {
  for (const char uplo : {'L', 'U'})
    for (const int n : {1, 2, 5, 16, 33, 100}) {
      for (const Damage damage : {Damage::none, Damage::negative}) {
        batches<T>(uplo, n, damage);
        one_matrix<T>(uplo, n, damage);
      }
    }
  captured<T>(12);
  // Orders from which on chol solves and inverts one matrix.
  for (const char uplo : {'L', 'U'}) {
    one_matrix<T>(uplo, 300, Damage::none, 1);
    one_matrix<T>(uplo, 300, Damage::none, 40);
  }
  // Checking the inverse takes as many operations as computing it, so this is done in one precision
  // only.
  if (std::is_same_v<T, double>) one_matrix<T>('L', 1024, Damage::none, 3);
  generic<T>(70, 2);
  generic<T>(300, 2);
  wrong_arguments<T>();
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no CUDA device\n");
    return 77;
  }
  CHECK(cusolverDnCreate(&handle));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cusolverDnSetStream(handle, stream));
  all<float>();
  all<double>();
  all<std::complex<float>>();
  all<std::complex<double>>();
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGetLastError());
  return 0;
}
