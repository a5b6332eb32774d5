// Transfer of a triangle to the device and back, without a device: every element arrives, is
// processed once and returns, for any order of events; a failure leaves full columns.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "lazy_runtime.hpp"
#include "native/round_trip.hpp"

namespace chol::test {
namespace {

using cuda::RoundTrip;
using cuda::Staging;
using cuda::TriangleView;

int failures = 0;

struct Triangle {
  int64_t n, ld;
  bool swapped;
  std::vector<double> elements;

  Triangle(int64_t order, int64_t leading, bool row_storage, bool filled)
      : n(order), ld(leading), swapped(row_storage), elements(ld * n, -77) {
    for (int64_t j = 0; filled && j < n; ++j)
      for (int64_t i = j; i < n; ++i) at(i, j) = start(i, j);
  }
  static double start(int64_t i, int64_t j) { return static_cast<double>(i * 16384 + j); }
  double& at(int64_t i, int64_t j) { return elements[swapped ? i * ld + j : j * ld + i]; }
  TriangleView view() {
    return {reinterpret_cast<char*>(elements.data()), sizeof(double), n, ld, swapped};
  }
};

/// Replaces the factorization: adds a half to the columns of each step. With slow events two steps
/// need all columns, as updates do.
Status work(RoundTrip& trip, Staging& staging, Triangle& device, int* info, int bad) {
  constexpr int64_t kStep = 64;
  for (int64_t first = 0; first < device.n; first += kStep) {
    const int64_t last = std::min(device.n, first + kStep);
    const bool updates = first == 0 || first / kStep == device.n / kStep / 2;
    Status status = trip.need(updates && query_odds > 2 ? device.n : last);
    if (!status.ok()) return status;
    staging.compute->push([=, &device] {
      if (bad > first && bad <= last) *info = bad;
      for (int64_t j = first; j < last; ++j)
        for (int64_t i = j; i < device.n; ++i) device.at(i, j) += 0.5;
    });
    status = trip.finished(last);
    if (!status.ok()) return status;
  }
  return trip.finish();
}

void expect(bool good, const char* what, const Triangle& A, int64_t value) {
  if (good) return;
  ++failures;
  std::printf("FAILED %s: n %lld swapped %d, %lld\n", what, static_cast<long long>(A.n), A.swapped,
              static_cast<long long>(value));
}

/// Whether the first `columns` were processed and the rest is unchanged.
bool is_as_expected(Triangle& A, int64_t columns) {
  Triangle expected(A.n, A.ld, A.swapped, true);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = j; i < A.n; ++i) expected.at(i, j) += 0.5;
  return A.elements == expected.elements;
}

bool has_nan(const char* elements, int64_t count) {
  const auto* const values = reinterpret_cast<const double*>(elements);
  return std::any_of(values, values + count, [](double x) { return std::isnan(x); });
}

/// A NaN near the failing pivot: expected in the row of that pivot; in any other row the piece is
/// left unchanged to the host.
void nan_beside(Staging& staging, bool swapped, int bad, int64_t row) {
  Triangle A(2100, 2103, swapped, true), device(2100, 2113, swapped, false);
  A.at(row, bad - 5) = std::numeric_limits<double>::quiet_NaN();
  Triangle expected = A;
  int info = 0;
  int64_t returned = 0;
  Status status;
  {
    RoundTrip trip(staging, A.view(), device.view(), &info, 2, has_nan);
    status = trip.prepare();
    if (status.ok()) status = work(trip, staging, device, &info, bad);
    returned = trip.returned_columns();
    expect(trip.info() == (row == bad - 1 ? bad : 0), "info with a NaN", A, trip.info());
  }
  expect(status.ok() == (row == bad - 1), "status with a NaN", A, row);
  expect(status.ok() ? returned >= bad : returned < bad - 5, "columns with a NaN", A, returned);
  for (int64_t j = 0; j < returned; ++j)
    for (int64_t i = j; i < A.n; ++i) expected.at(i, j) += 0.5;
  expect(std::memcmp(A.elements.data(), expected.elements.data(),
                     A.elements.size() * sizeof(double)) == 0,
         "elements with a NaN", A, row);
}

void round_trip(Staging& staging, int64_t n, bool swapped, int bad, int fail_after) {
  Triangle A(n, n + 3, swapped, true), device(n, n + 13, swapped, false);
  int info = 0;
  Status status;
  int64_t returned = 0;
  int seen = 0;
  {
    RoundTrip trip(staging, A.view(), device.view(), &info, 2, has_nan);
    status = trip.prepare();
    calls_before_failure = fail_after;
    if (status.ok()) status = work(trip, staging, device, &info, bad);
    calls_before_failure = -1;
    returned = trip.returned_columns();
    seen = trip.info();
  }
  expect(is_as_expected(A, returned), "elements", A, returned);
  if (!status.ok()) return expect(fail_after >= 0, "status", A, fail_after);
  expect(seen == bad, "info", A, seen);
  expect(bad ? returned >= bad : returned == n, "columns", A, returned);
}

}  // namespace
}  // namespace chol::test

int main() {
  using namespace chol::test;
  chol::cuda::Staging staging;
  for (const int run : {0, 1, 2, 3}) {
    const bool swapped = run % 2 == 1;
    query_odds = run < 2 ? 2 : 40;
    for (const int64_t n : {1, 63, 64, 65, 512, 513, 1500, 2100})
      round_trip(staging, n, swapped, 0, -1);
    for (const int bad : {1, 512, 513, 1111, 2099, 2100})
      round_trip(staging, 2100, swapped, bad, -1);
    for (const int bad : {1111, 1106, 2099})
      for (const int64_t row : {bad - 1, bad, 2099}) nan_beside(staging, swapped, bad, row);
    for (int calls = 0; calls < 120; calls += 11) round_trip(staging, 2100, swapped, 0, calls);
  }
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
