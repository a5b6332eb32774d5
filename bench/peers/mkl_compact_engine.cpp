// MKL's compact routines, the rival for small batches. In the interleaved form the matrices are in
// its layout before and after. A caller with column-major matrices packs a
// group of them, factors it and unpacks it. Groups are small enough for the private cache, which is
// faster for MKL than packing the whole batch first. MKL is opened at run time, so the few
// prototypes used are declared here, from oneMKL's reference of the compact functions.
#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>

#include "base/scalar.hpp"
#include "peers/engine.hpp"
#include "precision.hpp"

namespace chol::bench {
namespace {

using Integer = int;
using Choice = int;  // MKL's enums
constexpr Choice kColumnMajor = 102, kUpper = 121, kLower = 122;
constexpr Choice kLeft = 141, kNoTranspose = 111, kTranspose = 112, kNonUnit = 131;
constexpr Choice kPackSse = 181, kPackAvx = 182, kPackAvx512 = 183;

template <class T>
struct Compact {
  using R = RealOf<T>;
  Integer (*get_size)(Integer ld, Integer columns, Choice format, Integer count);
  void (*pack)(Choice layout, Integer rows, Integer columns, const T* const* from, Integer ld,
               R* to, Integer ldp, Choice format, Integer count);
  void (*unpack)(Choice layout, Integer rows, Integer columns, T* const* to, Integer ld,
                 const R* from, Integer ldp, Choice format, Integer count);
  void (*potrf)(Choice layout, Choice uplo, Integer n, R* A, Integer lda, Integer* info,
                Choice format, Integer count);
  void (*trsm)(Choice layout, Choice side, Choice uplo, Choice transpose, Choice diagonal,
               Integer rows, Integer columns, R alpha, const R* A, Integer lda, R* B, Integer ldb,
               Choice format, Integer count);

  Compact() {
    bind(get_size, "get_size_compact");
    bind(pack, "gepack_compact");
    bind(unpack, "geunpack_compact");
    bind(potrf, "potrf_compact");
    bind(trsm, "trsm_compact");
  }

 private:
  template <class Function>
  static void bind(Function*& function, const std::string& name) {
    const std::string symbol = std::string("mkl_") + precision_letter<T> + name;
    function = reinterpret_cast<Function*>(find_symbol(RTLD_DEFAULT, symbol));
    if (!function) throw std::runtime_error("the library has no " + symbol);
  }
};

class MklCompactEngine : public HostEngine {
 public:
  explicit MklCompactEngine(const std::vector<std::string>& libraries) {
    for (const std::string& library : libraries) open_library(library);
    void* set_threads = find_symbol(RTLD_DEFAULT, "MKL_Set_Num_Threads");
    void* get_format = find_symbol(RTLD_DEFAULT, "mkl_get_format_compact");
    if (!set_threads || !get_format) throw std::runtime_error("no MKL with compact routines");
    reinterpret_cast<void (*)(int)>(set_threads)(1);
    format_ = reinterpret_cast<Choice (*)()>(get_format)();
#if defined(__x86_64__)
    // On AMD it selects SSE, although its kernels of the widest format run there and are faster.
    if (__builtin_cpu_supports("avx512f")) format_ = kPackAvx512;
#endif
  }
  std::string version() const override {
    return format_ == kPackAvx512 ? "compact AVX-512"
           : format_ == kPackAvx  ? "compact AVX"
           : format_ == kPackSse  ? "compact SSE"
                                  : "compact";
  }
  bool supports(const Case& c) const override {
    if (c.form == Form::interleaved)
      return c.routine == Routine::potrf ||
             (!precision_is_complex(c.precision) &&
              (c.routine == Routine::posv || c.routine == Routine::potrf_potrs));
    return c.routine == Routine::potrf &&
           (c.form == Form::batched || c.form == Form::strided_batched);
  }

 protected:
  void prepare(Work& work) override {
    with_precision(work.c.precision, [&](auto type) { reserve<decltype(type)>(work); });
  }
  void execute(Work& work) override {
    with_precision(work.c.precision, [&](auto type) {
      if (work.c.form == Form::interleaved)
        work_packed<decltype(type)>(work);
      else
        factor<decltype(type)>(work);
    });
  }
  void arrange(Work& work) override { repack(work, true); }
  void collect(Work& work) override { repack(work, false); }

 private:
  template <class T>
  static const Compact<T>& functions() {
    static const Compact<T> bound;
    return bound;
  }

  template <class T>
  Integer size_of(Integer rows, Integer columns, int64_t count) const {
    return functions<T>().get_size(rows, columns, format_, static_cast<Integer>(count));
  }

  template <class T>
  void reserve(const Work& work) {
    if (work.c.form == Form::interleaved) return reserve_whole<T>(work);
    constexpr int64_t kCacheBytes = 256 * 1024, kLargestPack = 16;
    const int64_t bytes = work.c.n * work.c.n * static_cast<int64_t>(sizeof(T));
    const int64_t packs = std::max<int64_t>(1, kCacheBytes / (bytes * kLargestPack));
    group_ = packs * kLargestPack;
    const auto n = static_cast<Integer>(work.c.n);
    const Integer size = functions<T>().get_size(n, n, format_, static_cast<Integer>(group_));
    buffer_.assign(work.c.threads, std::vector<double>(size / sizeof(double) + 8));
  }

  /// One packed array for the whole batch, aligned as MKL requires; a thread takes a range of
  /// packs.
  template <class T>
  void reserve_whole(const Work& work) {
    const auto n = static_cast<Integer>(work.c.n), nrhs = static_cast<Integer>(work.c.nrhs);
    buffer_.assign(2, {});
    buffer_[0].resize(size_of<T>(n, n, work.c.batch) / sizeof(double) + 16);
    buffer_[1].resize(size_of<T>(n, std::max(nrhs, 1), work.c.batch) / sizeof(double) + 16);
  }
  template <class T>
  RealOf<T>* packed(int which, int64_t first, Integer rows, Integer columns) {
    const auto address = reinterpret_cast<uintptr_t>(buffer_[which].data());
    char* base = reinterpret_cast<char*>((address + 63) / 64 * 64);
    constexpr int64_t kLargestPack = 16;
    return reinterpret_cast<RealOf<T>*>(base + first / kLargestPack *
                                                   size_of<T>(rows, columns, kLargestPack));
  }
  void repack(Work& work, bool pack) {
    if (work.c.form != Form::interleaved) return;
    with_precision(work.c.precision, [&](auto type) { repack_as<decltype(type)>(work, pack); });
  }
  template <class T>
  void repack_as(Work& work, bool pack) {
    const Compact<T>& mkl = functions<T>();
    const auto n = static_cast<Integer>(work.c.n), nrhs = static_cast<Integer>(work.c.nrhs);
    const auto lda = static_cast<Integer>(work.layout.lda[0]),
               count = static_cast<Integer>(work.c.batch);
    const auto move = [&](std::vector<void*>& of, Integer columns, Integer ld, int which) {
      T* const* matrices = reinterpret_cast<T* const*>(of.data());
      if (pack)
        mkl.pack(kColumnMajor, n, columns, matrices, ld, packed<T>(which, 0, n, columns), n,
                 format_, count);
      else
        mkl.unpack(kColumnMajor, n, columns, matrices, ld, packed<T>(which, 0, n, columns), n,
                   format_, count);
    };
    move(work.A_of, n, lda, 0);
    if (has_rhs(work.c.routine)) move(work.B_of, nrhs, n, 1);
  }
  template <class T>
  void work_packed(Work& work) {
    constexpr int64_t kLargestPack = 16;
    const int64_t packs = (work.c.batch + kLargestPack - 1) / kLargestPack;
    const int threads = work.c.threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int thread = 0; thread < threads; ++thread) {
      const int64_t first = packs * thread / threads * kLargestPack;
      const int64_t end = std::min(work.c.batch, packs * (thread + 1) / threads * kLargestPack);
      if (first < end) work_range<T>(work, first, static_cast<Integer>(end - first));
    }
  }
  template <class T>
  void work_range(Work& work, int64_t first, Integer count) {
    const Compact<T>& mkl = functions<T>();
    const auto n = static_cast<Integer>(work.c.n), nrhs = static_cast<Integer>(work.c.nrhs);
    const bool lower = work.c.uplo == 'L';
    const Choice uplo = lower ? kLower : kUpper;
    RealOf<T>* A = packed<T>(0, first, n, n);
    Integer info = 0;
    mkl.potrf(kColumnMajor, uplo, n, A, n, &info, format_, count);
    if (info != 0) work.info[first] = info;
    if (!has_rhs(work.c.routine)) return;
    RealOf<T>* B = packed<T>(1, first, n, nrhs);
    for (const bool forward : {true, false})
      mkl.trsm(kColumnMajor, kLeft, uplo, lower == forward ? kNoTranspose : kTranspose, kNonUnit, n,
               nrhs, RealOf<T>(1), A, n, B, n, format_, count);
  }

  template <class T>
  void factor(Work& work) {
    const int64_t groups = (work.c.batch + group_ - 1) / group_;
    const int threads = work.c.threads;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int thread = 0; thread < threads; ++thread)
      for (int64_t g = groups * thread / threads; g < groups * (thread + 1) / threads; ++g)
        factor_group<T>(work, g * group_, buffer_[thread].data());
  }

  template <class T>
  void factor_group(Work& work, int64_t first, double* buffer) {
    const Compact<T>& mkl = functions<T>();
    const auto n = static_cast<Integer>(work.c.n);
    const auto lda = static_cast<Integer>(work.layout.lda[0]);
    const auto count = static_cast<Integer>(std::min(group_, work.c.batch - first));
    auto* const packed = reinterpret_cast<RealOf<T>*>(buffer);
    T* const* matrices = reinterpret_cast<T* const*>(work.A_of.data() + first);
    mkl.pack(kColumnMajor, n, n, matrices, lda, packed, n, format_, count);
    Integer info = 0;
    mkl.potrf(kColumnMajor, work.c.uplo == 'L' ? kLower : kUpper, n, packed, n, &info, format_,
              count);
    mkl.unpack(kColumnMajor, n, n, matrices, lda, packed, n, format_, count);
    if (info != 0) work.info[first] = info;
  }

  Choice format_ = 0;
  int64_t group_ = 0;
  std::vector<std::vector<double>> buffer_;
};

}  // namespace

std::unique_ptr<Engine> make_mkl_compact_engine(const std::vector<std::string>& libraries) {
  return std::make_unique<MklCompactEngine>(libraries);
}

}  // namespace chol::bench
