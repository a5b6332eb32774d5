// cuSOLVER: batches, and one matrix, are computed by chol on the stream of the caller's handle
// where chol is faster; other calls are forwarded to cuSOLVER and only counted. The callers bind
// these names with the version libcusolver.so.12, which a definition without a version satisfies.
#include <algorithm>
#include <iterator>

#include "base/precisions.h"
#include "chol.h"
#include "preload/device.hpp"
#include "preload/entry.hpp"

namespace chol::preload {
namespace {

// The part of cusolverDn.h that is used.
constexpr int kStatusSuccess = 0;
constexpr int kStatusInternalError = 7;
constexpr int kFillLower = 0, kFillUpper = 1;
using CusolverHandle = void*;

/// Orders up to which chol's batches were measured and faster, except for those below.
constexpr int kMostFactored = 1024, kMostSolved = 128;
/// Factorizations left to cuSOLVER: from this order on, batches of at most so many matrices.
struct HandedOn {
  char precision;
  int fill, least_n, most_matrices;
};
constexpr HandedOn kHandedOn[] = {{'c', kFillLower, 900, 1}, {'z', kFillLower, 1000, 1}};
bool is_handed_on(char precision, int fill, int n, int batch) {
  return std::any_of(std::begin(kHandedOn), std::end(kHandedOn), [&](const HandedOn& row) {
    return row.precision == precision && row.fill == fill && row.least_n <= n &&
           batch <= row.most_matrices;
  });
}

/// Calls with one matrix computed by chol: range of orders, on devices of this compute capability.
/// Measured on H100 and H200 (bench/results/h200_one_matrix.csv, h100_one_solve.csv).
struct TakenOver {
  Family family;
  char precision;
  int capability;
  int64_t least_n, most_n;
};
constexpr TakenOver kOneMatrix[] = {
    {Family::potrf, 's', 9, 1, 16384},    {Family::potrf, 'd', 9, 1, 16384},
    {Family::potrf, 'c', 9, 1, 16384},    {Family::potrf, 'z', 9, 1, 8192},
    {Family::potrs, 's', 9, 200, 16384},  {Family::potrs, 'd', 9, 200, 16384},
    {Family::potrs, 'c', 9, 200, 8192},   {Family::potrs, 'z', 9, 200, 8192},
    {Family::potri, 's', 9, 1024, 16384}, {Family::potri, 'd', 9, 512, 16384},
    {Family::potri, 'c', 9, 1024, 8192},  {Family::potri, 'z', 9, 1024, 8192}};
bool is_taken_over(Family family, char precision, int capability, int64_t n) {
  return std::any_of(std::begin(kOneMatrix), std::end(kOneMatrix), [&](const TakenOver& row) {
    return row.family == family && row.precision == precision && row.capability == capability &&
           row.least_n <= n && n <= row.most_n;
  });
}

struct CusolverEntry {
  Account account;
  uint32_t bit;
  Original original;
};

/// Calls the original and counts it as such.
template <class... Parameters>
int forward(CusolverEntry& entry, Tally& tally, Parameters... arguments) {
  tally.runs_on(Place::original);
  auto* original = entry.original.template get<int(Parameters...)>();
  return original ? original(arguments...) : kStatusInternalError;
}

bool stream_of(CusolverHandle handle, void** stream) {
  static constinit Original get_stream("cusolverDnGetStream", "libcusolver.so.12");
  auto* get = get_stream.get<int(CusolverHandle, void**)>();
  return get && get(handle, stream) == kStatusSuccess;
}

bool is_good(int fill, int64_t n, int64_t lda, int batch) {
  return (fill == kFillLower || fill == kFillUpper) && n >= 1 && lda >= n && batch >= 1;
}
chol_uplo_t triangle(int fill) { return fill == kFillLower ? CHOL_LOWER : CHOL_UPPER; }

template <class T>
struct Device;
#define CHOL_DEFINE_DEVICE(p, T, R)                        \
  template <>                                              \
  struct Device<T> {                                       \
    static constexpr char letter = #p[0];                  \
    static constexpr auto potrf_one = chol_##p##potrf;     \
    static constexpr auto potrs_one = chol_##p##potrs;     \
    static constexpr auto potri_one = chol_##p##potri;     \
    static constexpr auto potrf = chol_##p##potrf_batched; \
    static constexpr auto potrs = chol_##p##potrs_batched; \
  };
CHOL_FOR_EACH_PRECISION(CHOL_DEFINE_DEVICE)
#undef CHOL_DEFINE_DEVICE

/// Calls chol for one matrix: run(its handle). Returns whether the work was queued; otherwise
/// nothing was changed.
template <class T, class Run>
bool run_one(Tally& tally, Family family, CusolverHandle handle, int fill, int64_t n, int64_t lda,
             void** stream, Run&& run) {
  constexpr char kLetter = Device<T>::letter;
  if (!(settings().selected & selection_bit(family, kLetter)) || !is_good(fill, n, lda, 1) ||
      !is_taken_over(family, kLetter, device_capability(), n) || !stream_of(handle, stream))
    return false;
  const DeviceLease chol(*stream);
  if (!chol || run(chol) != CHOL_STATUS_SUCCESS) return false;
  tally.runs_on(Place::device);
  return true;
}
template <class T>
bool potrf_one(Tally& tally, CusolverHandle handle, int fill, int64_t n, T* A, int64_t lda,
               int* info) {
  void* stream = nullptr;
  return run_one<T>(tally, Family::potrf, handle, fill, n, lda, &stream, [&](chol_handle_t chol) {
    return Device<T>::potrf_one(chol, triangle(fill), n, A, lda, info);
  });
}
template <class T>
bool potri_one(Tally& tally, CusolverHandle handle, int fill, int64_t n, T* A, int64_t lda,
               int* info) {
  void* stream = nullptr;
  return run_one<T>(tally, Family::potri, handle, fill, n, lda, &stream, [&](chol_handle_t chol) {
    return Device<T>::potri_one(chol, triangle(fill), n, A, lda, info);
  });
}
/// As in cuSOLVER, info = 0 says that the arguments were valid.
template <class T>
bool potrs_one(Tally& tally, CusolverHandle handle, int fill, int64_t n, int64_t nrhs, const T* A,
               int64_t lda, T* B, int64_t ldb, int* info) {
  void* stream = nullptr;
  if (nrhs < 1 || ldb < n || !info) return false;
  return run_one<T>(tally, Family::potrs, handle, fill, n, lda, &stream, [&](chol_handle_t chol) {
    if (!clear_on_stream(info, stream)) return CHOL_STATUS_DEVICE_ERROR;
    return Device<T>::potrs_one(chol, triangle(fill), n, nrhs, A, lda, B, ldb);
  });
}

/// The values of cudaDataType that cuSOLVER factors.
enum class DataType : int { r32f = 0, r64f = 1, c32f = 4, c64f = 5 };

/// body(an element of the type), or false where it is none of these.
template <class Body>
bool with_element(int type, Body&& body) {
  switch (static_cast<DataType>(type)) {
    case DataType::r32f:
      return body(float{});
    case DataType::r64f:
      return body(double{});
    case DataType::c32f:
      return body(std::complex<float>{});
    case DataType::c64f:
      return body(std::complex<double>{});
  }
  return false;
}

template <class T>
int potrf_batched(CusolverEntry& entry, CusolverHandle handle, int fill, int n, T** A, int lda,
                  int* info, int batch) {
  Tally tally(entry.account, n, batch);
  void* stream = nullptr;
  if ((settings().selected & entry.bit) && is_good(fill, n, lda, batch) && n <= kMostFactored &&
      !is_handed_on(Device<T>::letter, fill, n, batch) && stream_of(handle, &stream)) {
    const DeviceLease chol(stream);
    if (chol &&
        Device<T>::potrf(chol, triangle(fill), n, A, lda, info, batch) == CHOL_STATUS_SUCCESS) {
      tally.runs_on(Place::device);
      return kStatusSuccess;
    }
  }
  return forward(entry, tally, handle, fill, n, A, lda, info, batch);
}

/// cuSOLVER solves one right-hand side a matrix and returns its own error for more.
template <class T>
int potrs_batched(CusolverEntry& entry, CusolverHandle handle, int fill, int n, int nrhs, T** A,
                  int lda, T** B, int ldb, int* info, int batch) {
  Tally tally(entry.account, n, batch);
  void* stream = nullptr;
  if ((settings().selected & entry.bit) && is_good(fill, n, lda, batch) && ldb >= n && nrhs == 1 &&
      n <= kMostSolved && stream_of(handle, &stream)) {
    const DeviceLease chol(stream);
    if (chol && Device<T>::potrs(chol, triangle(fill), n, nrhs, A, lda, B, ldb, batch) ==
                    CHOL_STATUS_SUCCESS) {
      tally.runs_on(Place::device);
      return clear_on_stream(info, stream) ? kStatusSuccess : kStatusInternalError;
    }
  }
  return forward(entry, tally, handle, fill, n, nrhs, A, lda, B, ldb, info, batch);
}

}  // namespace
}  // namespace chol::preload

using namespace chol;
using namespace chol::preload;

#define CHOL_DEFINE_ENTRY(name, family, letter)                                         \
  static constinit CusolverEntry name##_entry = {Account(#name),                        \
                                                 selection_bit(Family::family, letter), \
                                                 Original(#name, "libcusolver.so.12")};

#define CHOL_DEFINE_CUSOLVER(P, p, T)                                                              \
  CHOL_DEFINE_ENTRY(cusolverDn##P##potrfBatched, potrf, p)                                         \
  CHOL_DEFINE_ENTRY(cusolverDn##P##potrsBatched, potrs, p)                                         \
  CHOL_DEFINE_ENTRY(cusolverDn##P##potrf, potrf, p)                                                \
  CHOL_DEFINE_ENTRY(cusolverDn##P##potrs, potrs, p)                                                \
  CHOL_DEFINE_ENTRY(cusolverDn##P##potri, potri, p)                                                \
  extern "C" CHOL_EXPORT int cusolverDn##P##potrfBatched(CusolverHandle handle, int fill, int n,   \
                                                         T** A, int lda, int* info, int batch) {   \
    return potrf_batched(cusolverDn##P##potrfBatched_entry, handle, fill, n, A, lda, info, batch); \
  }                                                                                                \
  extern "C" CHOL_EXPORT int cusolverDn##P##potrsBatched(CusolverHandle handle, int fill, int n,   \
                                                         int nrhs, T** A, int lda, T** B, int ldb, \
                                                         int* info, int batch) {                   \
    return potrs_batched(cusolverDn##P##potrsBatched_entry, handle, fill, n, nrhs, A, lda, B, ldb, \
                         info, batch);                                                             \
  }                                                                                                \
  extern "C" CHOL_EXPORT int cusolverDn##P##potrf(CusolverHandle handle, int fill, int n, T* A,    \
                                                  int lda, T* work, int size, int* info) {         \
    Tally tally(cusolverDn##P##potrf_entry.account, n);                                            \
    if (potrf_one(tally, handle, fill, n, A, lda, info)) return kStatusSuccess;                    \
    return forward(cusolverDn##P##potrf_entry, tally, handle, fill, n, A, lda, work, size, info);  \
  }                                                                                                \
  extern "C" CHOL_EXPORT int cusolverDn##P##potrs(CusolverHandle handle, int fill, int n,          \
                                                  int nrhs, const T* A, int lda, T* B, int ldb,    \
                                                  int* info) {                                     \
    Tally tally(cusolverDn##P##potrs_entry.account, n);                                            \
    if (potrs_one(tally, handle, fill, n, nrhs, A, lda, B, ldb, info)) return kStatusSuccess;      \
    return forward(cusolverDn##P##potrs_entry, tally, handle, fill, n, nrhs, A, lda, B, ldb,       \
                   info);                                                                          \
  }                                                                                                \
  extern "C" CHOL_EXPORT int cusolverDn##P##potri(CusolverHandle handle, int fill, int n, T* A,    \
                                                  int lda, T* work, int size, int* info) {         \
    Tally tally(cusolverDn##P##potri_entry.account, n);                                            \
    if (potri_one(tally, handle, fill, n, A, lda, info)) return kStatusSuccess;                    \
    return forward(cusolverDn##P##potri_entry, tally, handle, fill, n, A, lda, work, size, info);  \
  }
CHOL_DEFINE_CUSOLVER(S, 's', float)
CHOL_DEFINE_CUSOLVER(D, 'd', double)
CHOL_DEFINE_CUSOLVER(C, 'c', std::complex<float>)
CHOL_DEFINE_CUSOLVER(Z, 'z', std::complex<double>)

CHOL_DEFINE_ENTRY(cusolverDnXpotrf, potrf, 'd')
CHOL_DEFINE_ENTRY(cusolverDnXpotrs, potrs, 'd')

extern "C" CHOL_EXPORT int cusolverDnXpotrf(CusolverHandle handle, void* parameters, int fill,
                                            int64_t n, int type, void* A, int64_t lda,
                                            int compute_type, void* device_work,
                                            size_t device_bytes, void* host_work, size_t host_bytes,
                                            int* info) {
  Tally tally(cusolverDnXpotrf_entry.account, n);
  const bool is_taken =
      type == compute_type && with_element(type, [&](auto element) {
        return potrf_one(tally, handle, fill, n, static_cast<decltype(element)*>(A), lda, info);
      });
  if (is_taken) return kStatusSuccess;
  return forward(cusolverDnXpotrf_entry, tally, handle, parameters, fill, n, type, A, lda,
                 compute_type, device_work, device_bytes, host_work, host_bytes, info);
}

extern "C" CHOL_EXPORT int cusolverDnXpotrs(CusolverHandle handle, void* parameters, int fill,
                                            int64_t n, int64_t nrhs, int type_A, const void* A,
                                            int64_t lda, int type_B, void* B, int64_t ldb,
                                            int* info) {
  Tally tally(cusolverDnXpotrs_entry.account, n);
  const bool is_taken = type_A == type_B && with_element(type_A, [&](auto element) {
                          using T = decltype(element);
                          return potrs_one(tally, handle, fill, n, nrhs, static_cast<const T*>(A),
                                           lda, static_cast<T*>(B), ldb, info);
                        });
  if (is_taken) return kStatusSuccess;
  return forward(cusolverDnXpotrs_entry, tally, handle, parameters, fill, n, nrhs, type_A, A, lda,
                 type_B, B, ldb, info);
}
