// CHOL_MATH_TENSOR of one matrix over several devices: test_devices_tensor [precisions]. A single
// device is named several times, which uses the same code paths. A tuning file enables it for every
// order.
#include <cstring>
#include <string>

#include "cyclic_parts.hpp"
#include "generated_matrix.hpp"
#include "tuning_file.hpp"

namespace chol::test {
namespace {

/// Columns of a panel; groups have a few panels at these orders.
constexpr int64_t kBlock = 128;

std::string rows_of_all_orders() {
  std::string rows;
  for (const char precision : {'s', 'd', 'c', 'z'})
    rows += (rows.empty() ? "" : ",\n") + std::string(R"({"precision": ")") + precision +
            R"(", "least_n": 1, "panel": 128, "native_columns": 0})";
  return rows;
}

template <class T>
class Factored {
 public:
  Factored(const Team& team, chol_uplo_t uplo, const GeneratedMatrix& matrix)
      : team_(team),
        uplo_(uplo),
        matrix_(matrix),
        parts_(team, matrix.n, kBlock),
        whole_(size_t(matrix.n) * size_t(matrix.n)) {}

  /// Returns info.
  int run(chol_math_mode_t mode) {
    expect_status(team_.handle, chol_set_math_mode(team_.handle, mode), "chol_set_math_mode");
    CHOL_TEST_CUDA(
        matrix_.write(letter_of(T{}), uplo_ == CHOL_UPPER, whole_.data(), matrix_.n, nullptr));
    CHOL_TEST_CUDA(cudaDeviceSynchronize());
    parts_.scatter(uplo_, whole_.data(), matrix_.n);
    const int info = parts_.factor(uplo_);
    parts_.gather(uplo_, whole_.data(), matrix_.n);
    return info;
  }
  SampledResidual residual() const {
    SampledResidual residual{};
    CHOL_TEST_CUDA(sampled_residual(matrix_, letter_of(T{}), uplo_ == CHOL_UPPER, whole_.data(),
                                    matrix_.n, &residual));
    return residual;
  }
  std::vector<T> bits() const { return whole_.get(); }
  /// The same matrix from host memory.
  int run_host(bool pinned) {
    expect_status(team_.handle, chol_set_math_mode(team_.handle, CHOL_MATH_TENSOR),
                  "chol_set_math_mode");
    CHOL_TEST_CUDA(
        matrix_.write(letter_of(T{}), uplo_ == CHOL_UPPER, whole_.data(), matrix_.n, nullptr));
    std::vector<T> host = whole_.get();
    const size_t bytes = sizeof(T) * host.size();
    if (pinned) CHOL_TEST_CUDA(cudaHostRegister(host.data(), bytes, cudaHostRegisterDefault));
    int info = -5;
    expect_status(team_.handle,
                  potrf_of(T{})(team_.handle, uplo_, matrix_.n, host.data(), matrix_.n, &info),
                  "potrf of a host matrix");
    if (pinned) CHOL_TEST_CUDA(cudaHostUnregister(host.data()));
    whole_.put(host);
    return info;
  }

 private:
  const Team& team_;
  const chol_uplo_t uplo_;
  const GeneratedMatrix matrix_;
  const Parts<T> parts_;
  DeviceArray<T> whole_;
};

template <class T>
void check(const Team& team, chol_uplo_t uplo, const GeneratedMatrix& matrix) {
  const char letter = letter_of(T{});
  const int64_t n = matrix.n;
  Factored<T> factored(team, uplo, matrix);
  const auto expect_residual = [&](const char* what, int info) {
    expect(info == 0, what, letter, uplo, n, info);
    const SampledResidual residual = factored.residual();
    expect(residual.ratio < 30, what, letter, uplo, n, residual.ratio);
    expect(residual.scaled < 30 * std::sqrt(double(n)), what, letter, uplo, n, residual.scaled);
  };
  expect_residual("native", factored.run(CHOL_MATH_IEEE));
  const std::vector<T> natively = factored.bits();
  expect_residual("by residues", factored.run(CHOL_MATH_TENSOR));
  const std::vector<T> by_residues = factored.bits();
  factored.run(CHOL_MATH_TENSOR);
  expect(factored.bits() == by_residues, "bits of a repeat", letter, uplo, n, 0);
  expect(n < 1500 || natively != by_residues, "products by residues", letter, uplo, n, 0);
  for (const bool pinned : {false, true})
    expect_residual(pinned ? "pinned host matrix" : "host matrix", factored.run_host(pinned));
}

/// A row with a too small diagonal element exceeds the bound.
template <class T>
void check_info(const Team& team, chol_uplo_t uplo, int64_t n) {
  for (const int64_t bad : {int64_t{70}, n / 2, n - 1}) {
    GeneratedMatrix matrix{GeneratedMatrix::random, n};
    matrix.bad_row = bad;
    Factored<T> factored(team, uplo, matrix);
    const int natively = factored.run(CHOL_MATH_IEEE);
    const int info = factored.run(CHOL_MATH_TENSOR);
    expect(info == natively && info > 0, "info", letter_of(T{}), uplo, bad, info);
  }
}

template <class T>
void run(const std::vector<int>& devices) {
  const Team team(devices);
  for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
    for (const auto kind : {GeneratedMatrix::random, GeneratedMatrix::graded})
      for (const int64_t n : {200, 1000, 1999, 3333}) check<T>(team, uplo, {kind, n});
    check_info<T>(team, uplo, 2000);
  }
}

void run_all(const std::vector<int>& devices, const std::string& wanted) {
  for_each_precision(wanted, [&](auto zero) { run<decltype(zero)>(devices); });
}

}  // namespace
}  // namespace chol::test

int main(int argc, char** argv) {
  using namespace chol::test;
  if (!device_present()) return 0;
  const std::string wanted = argc > 1 ? argv[1] : "";
  const TuningFile file(rows_of_all_orders());
  int count = 0;
  CHOL_TEST_CUDA(cudaGetDeviceCount(&count));
  for (const std::vector<int>& devices : {std::vector<int>{0, 0}, std::vector<int>{0, 0, 0}})
    run_all(devices, wanted);
  std::vector<int> all;
  for (int d = 0; d < count; ++d) all.push_back(d);
  if (count > 1) run_all(all, wanted);
  return report_failures();
}
