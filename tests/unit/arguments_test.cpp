// Every argument of every function, broken one at a time: the status, the message with function,
// argument, value and rule, and that no array was changed.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/handle.hpp"
#include "unit/valid_call.hpp"

namespace chol::test {
namespace {

constexpr int64_t kHuge = int64_t{1} << 62;
constexpr int64_t kUncountable = int64_t{1} << 31;  // by info, an int

template <class T>
struct Fault {
  std::function<bool(Function, Layout)> applies;
  std::function<void(ValidCall<T>&)> make;
  std::string message;  ///< the message after the name of the function
};

bool anywhere(Function, Layout) { return true; }
bool variable(Function, Layout layout) { return layout == Layout::variable; }
bool not_variable(Function, Layout layout) { return layout != Layout::variable; }
bool pointers(Function, Layout layout) {
  return layout == Layout::batched || layout == Layout::variable;
}
bool strided(Function, Layout layout) { return layout == Layout::strided; }
bool interleaved(Function, Layout layout) { return layout == Layout::interleaved; }
bool in_batch(Function, Layout layout) { return layout != Layout::one; }

/// Both conditions.
template <class A, class B>
auto both(A a, B b) {
  return [=](Function f, Layout layout) { return a(f, layout) && b(f, layout); };
}
bool rhs(Function f, Layout) { return has_rhs(f); }
bool info(Function f, Layout) { return has_info(f); }
bool estimates(Function f, Layout) { return f == Function::pocon; }
bool sums_logarithms(Function f, Layout) { return f == Function::logdet; }

/// Scalars and arrays of every form.
template <class T>
std::vector<Fault<T>> scalar_faults() {
  using V = ValidCall<T>;
  const auto uplo = [](int value) { return [=](V& v) { v.call.uplo = chol_uplo_t(value); }; };
  const auto anorm = [](double value) { return [=](V& v) { v.call.anorm = RealOf<T>(value); }; };
  const std::string uncountable = " = 2147483648, must be at most 2147483647, since info is an int";
  const std::string triangle = ", must be CHOL_LOWER ('L' = 76) or CHOL_UPPER ('U' = 85)";
  const double inf = std::numeric_limits<double>::infinity();
  return {
      {anywhere, uplo('X'), "uplo = 88" + triangle},
      {anywhere, uplo('l'), "uplo = 108" + triangle},
      {anywhere, uplo(0), "uplo = 0" + triangle},
      {not_variable, [](V& v) { v.call.n = -1; }, "n = -1, must be at least 0"},
      {variable, [](V& v) { v.call.n = -1; }, "max_n = -1, must be at least 0"},
      {not_variable, [](V& v) { v.call.n = v.call.lda = v.call.ldb = kUncountable; },
       "n" + uncountable},
      {variable, [](V& v) { v.call.n = kUncountable; }, "max_n" + uncountable},
      {both(not_variable, rhs), [](V& v) { v.call.nrhs = -2; }, "nrhs = -2, must be at least 0"},
      {both(variable, rhs), [](V& v) { v.call.nrhs = -2; }, "max_nrhs = -2, must be at least 0"},
      {anywhere,
       [](V& v) {
         v.call.A = nullptr;
         v.call.As = nullptr;
       },
       "A = NULL, must point to its elements"},
      {rhs,
       [](V& v) {
         v.call.B = nullptr;
         v.call.Bs = nullptr;
       },
       "B = NULL, must point to its elements"},
      {not_variable, [](V& v) { v.call.lda = 4; }, "lda = 4, must be at least max(1, n) = 5"},
      {not_variable, [](V& v) { v.call.lda = -9; }, "lda = -9, must be at least max(1, n) = 5"},
      {not_variable, [](V& v) { v.call.n = v.call.lda = 0; },
       "lda = 0, must be at least max(1, n) = 1"},
      {both(not_variable, rhs), [](V& v) { v.call.ldb = 4; },
       "ldb = 4, must be at least max(1, n) = 5"},
      {strided, [](V& v) { v.call.strideA = 24; }, "strideA = 24, must be at least lda * n = 25"},
      {strided, [](V& v) { v.call.strideA = -25; }, "strideA = -25, must be at least lda * n = 25"},
      {both(strided, rhs), [](V& v) { v.call.strideB = 9; },
       "strideB = 9, must be at least ldb * nrhs = 10"},
      {info, [](V& v) { v.call.info = nullptr; }, "info = NULL, must point to its elements"},
      {estimates, [](V& v) { v.call.result = nullptr; },
       "rcond = NULL, must point to its elements"},
      {sums_logarithms, [](V& v) { v.call.result = nullptr; },
       "logdet = NULL, must point to its elements"},
      {estimates, anorm(-1), "anorm = -1, must be finite and at least 0"},
      {estimates, anorm(inf), "anorm = inf, must be finite and at least 0"},
      {estimates, anorm(std::nan("")), "anorm = nan, must be finite and at least 0"},
      {interleaved, [](V& v) { v.call.chunk = 0; }, "chunk = 0, must be at least 1"},
      {interleaved, [](V& v) { v.call.chunk = -8; }, "chunk = -8, must be at least 1"},
      {in_batch, [](V& v) { v.call.batch = -1; }, "batch = -1, must be at least 0"},
  };
}

/// Elements of arrays of sizes and pointers.
template <class T>
std::vector<Fault<T>> element_faults() {
  using V = ValidCall<T>;
  return {
      {pointers, [](V& v) { v.A(1) = nullptr; }, "A[1] = NULL, must point to its elements"},
      {both(pointers, rhs), [](V& v) { v.B(2) = nullptr; },
       "B[2] = NULL, must point to its elements"},
      {variable, [](V& v) { v.call.ns = nullptr; }, "n = NULL, must point to its elements"},
      {variable, [](V& v) { v.call.ldas = nullptr; }, "lda = NULL, must point to its elements"},
      {both(variable, rhs), [](V& v) { v.call.nrhss = nullptr; },
       "nrhs = NULL, must point to its elements"},
      {both(variable, rhs), [](V& v) { v.call.ldbs = nullptr; },
       "ldb = NULL, must point to its elements"},
      {variable, [](V& v) { v.n(2) = -3; }, "n[2] = -3, must be at least 0"},
      {variable,
       [](V& v) {
         v.call.n = 0;
         v.n(1) = v.lda(1) = kUncountable;
       },
       "n[1] = 2147483648, must be at most 2147483647, since info is an int"},
      {variable, [](V& v) { v.n(1) = 9; }, "n[1] = 9, must be at most max_n = 5"},
      {variable, [](V& v) { v.lda(1) = 4; }, "lda[1] = 4, must be at least 5"},
      {variable, [](V& v) { v.n(1) = v.lda(1) = 0; }, "lda[1] = 0, must be at least 1"},
      {both(variable, rhs), [](V& v) { v.nrhs(0) = -1; }, "nrhs[0] = -1, must be at least 0"},
      {both(variable, rhs), [](V& v) { v.nrhs(0) = 7; },
       "nrhs[0] = 7, must be at most max_nrhs = 2"},
      {both(variable, rhs), [](V& v) { v.ldb(2) = 1; }, "ldb[2] = 1, must be at least 5"},
  };
}

/// Products that exceed 63 bits.
template <class T>
std::vector<Fault<T>> overflow_faults() {
  using V = ValidCall<T>;
  const std::string A = "A spans more than 2^63 bytes, must be addressable";
  const std::string B = "B spans more than 2^63 bytes, must be addressable";
  return {
      {not_variable, [](V& v) { v.call.lda = kHuge; }, A},
      {not_variable, [](V& v) { v.call.lda = kHuge / 8; }, A},
      {not_variable,
       [](V& v) {
         v.call.n = kUncountable - 1;
         v.call.lda = v.call.ldb = kHuge / 8;
       },
       A},
      {both(not_variable, rhs), [](V& v) { v.call.ldb = kHuge; }, B},
      {both(not_variable, rhs), [](V& v) { v.call.nrhs = kHuge; }, B},
      {strided, [](V& v) { v.call.strideA = kHuge; }, A},
      {both(strided, rhs), [](V& v) { v.call.strideB = kHuge; }, B},
      {strided,
       [](V& v) {
         v.call.batch = kHuge;
         v.call.strideA = 1000;
       },
       A},
      {variable, [](V& v) { v.lda(1) = kHuge; },
       "A[1] spans more than 2^63 bytes, must be addressable"},
      {both(variable, rhs), [](V& v) { v.ldb(1) = kHuge; },
       "B[1] spans more than 2^63 bytes, must be addressable"},
      {both(variable, rhs),
       [](V& v) {
         v.call.nrhs = 0;
         v.nrhs(2) = kHuge;
       },
       "B[2] spans more than 2^63 bytes, must be addressable"},
      {pointers, [](V& v) { v.call.batch = kHuge; }, A},
      {interleaved, [](V& v) { v.call.batch = kHuge; }, A},
      {interleaved, [](V& v) { v.call.chunk = kHuge / 16; }, A},
  };
}

template <class T>
class Arguments : public testing::Test {};
using Elements = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Arguments, Elements);

template <class T>
void judge(const Fault<T>& fault, Function function, Layout layout) {
  if (!exists(function, layout) || !fault.applies(function, layout)) return;
  const std::string name = public_name(precision_letter<T>, function, layout);
  SCOPED_TRACE(name + ": " + fault.message);
  const Handle handle;
  ValidCall<T> valid(function, layout);
  fault.make(valid);
  ASSERT_EQ(invoke(handle, valid.call), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(), (name + ": " + fault.message).c_str());
  EXPECT_TRUE(valid.untouched());
  ValidCall<T> next(function, layout);
  EXPECT_EQ(invoke(handle, next.call), CHOL_STATUS_SUCCESS) << "the handle is not usable after it";
}

template <class T>
void judge_all(const std::vector<Fault<T>>& faults) {
  for (const Fault<T>& fault : faults)
    for (const Function function : kFunctions)
      for (const Layout layout : kLayouts) judge(fault, function, layout);
}

TYPED_TEST(Arguments, ScalarsAndArrays) { judge_all(scalar_faults<TypeParam>()); }
TYPED_TEST(Arguments, ElementsOfArrays) { judge_all(element_faults<TypeParam>()); }
TYPED_TEST(Arguments, Overflow) { judge_all(overflow_faults<TypeParam>()); }

/// f(call) of every routine in every form.
template <class T, class F>
void for_each_call(F&& f) {
  for (const Function function : kFunctions)
    for (const Layout layout : kLayouts)
      if (exists(function, layout)) {
        SCOPED_TRACE(public_name(precision_letter<T>, function, layout));
        ValidCall<T> valid(function, layout);
        f(valid);
      }
}

TYPED_TEST(Arguments, NoHandle) {
  for_each_call<TypeParam>([](ValidCall<TypeParam>& valid) {
    const std::string name =
        public_name(precision_letter<TypeParam>, valid.call.function, valid.call.layout);
    EXPECT_EQ(invoke<TypeParam>(nullptr, valid.call), CHOL_STATUS_INVALID_HANDLE);
    EXPECT_EQ(name + ": handle is NULL or was destroyed, must come from chol_create",
              chol_last_error(nullptr));
    EXPECT_TRUE(valid.untouched());
  });
}

TYPED_TEST(Arguments, EmptyMatricesNeedNoArrays) {
  const Handle handle;
  for_each_call<TypeParam>([&](ValidCall<TypeParam>& valid) {
    valid.call.n = 0;
    for (int64_t b = 0; b < valid.kBatch; ++b) {
      valid.n(b) = 0;
      valid.A(b) = valid.B(b) = nullptr;
    }
    valid.call.A = valid.call.B = nullptr;
    if (valid.call.layout == Layout::batched) valid.call.As = valid.call.Bs = nullptr;
    EXPECT_EQ(invoke(handle, valid.call), CHOL_STATUS_SUCCESS) << handle.last_error();
    const Call<TypeParam>& call = valid.call;
    EXPECT_EQ(call.info[call.batch - 1], has_info(call.function) ? 0 : -7);
    const bool result = has_result(call.function), one = call.function == Function::pocon;
    EXPECT_EQ(call.result[call.batch - 1], one ? 1 : result ? 0 : -7);
  });
}

TYPED_TEST(Arguments, NoRightHandSidesNeedNoArray) {
  const Handle handle;
  for_each_call<TypeParam>([&](ValidCall<TypeParam>& valid) {
    if (!has_rhs(valid.call.function)) return;
    valid.call.nrhs = 0;
    for (int64_t b = 0; b < valid.kBatch; ++b) {
      valid.nrhs(b) = 0;
      valid.B(b) = nullptr;
    }
    valid.call.B = nullptr;
    if (valid.call.layout == Layout::batched) valid.call.Bs = nullptr;
    EXPECT_EQ(invoke(handle, valid.call), CHOL_STATUS_SUCCESS) << handle.last_error();
  });
}

TYPED_TEST(Arguments, EmptyBatchNeedsNothing) {
  const Handle handle;
  for_each_call<TypeParam>([&](ValidCall<TypeParam>& valid) {
    if (valid.call.layout == Layout::one) return;
    Call<TypeParam> empty;
    empty.function = valid.call.function;
    empty.layout = valid.call.layout;
    empty.n = empty.lda = empty.ldb = 5;
    empty.nrhs = 2;
    empty.batch = 0;
    EXPECT_EQ(invoke(handle, empty), CHOL_STATUS_SUCCESS) << handle.last_error();
  });
}

/// One matrix needs no stride, and a bound of 0 means unknown.
TYPED_TEST(Arguments, ArgumentsThatAreNotRequired) {
  const Handle handle;
  for_each_call<TypeParam>([&](ValidCall<TypeParam>& valid) {
    if (valid.call.layout == Layout::strided) {
      valid.call.batch = 1;
      valid.call.strideA = valid.call.strideB = 0;
    }
    if (valid.call.layout == Layout::variable) valid.call.n = valid.call.nrhs = 0;
    EXPECT_EQ(invoke(handle, valid.call), CHOL_STATUS_SUCCESS) << handle.last_error();
  });
}

}  // namespace
}  // namespace chol::test
