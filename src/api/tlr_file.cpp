// C ABI: statistics, copies and files of tile low rank matrices.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "api/tlr.hpp"
#include "base/precisions.h"
#include "tlr/describe.hpp"
#include "tlr/file.hpp"

using namespace chol;
using namespace chol::api;

extern "C" {

chol_status_t chol_tlr_copy(chol_handle_t handle, chol_tlr_t A, chol_tlr_t* copy) {
  static constexpr const char* kFunction = "chol_tlr_copy";
  if (copy) *copy = nullptr;
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    Status status = check_matrix(kFunction, h, "A", A, Holds::anything);
    if (status.ok()) status = check(kFunction, {array("copy", copy, true)});
    if (!status.ok()) return status;
    auto made = std::make_unique<chol_tlr_s>();
    made->handle = &h;
    A->apply([&]<class T>(const tlr::Matrix<T>& matrix) {
      const auto ops = routine::tile_ops<T>(h);
      made->matrix.emplace<routine::TlrMatrix::Pointer<T>>(tlr::copy_of(*ops, matrix));
    });
    *copy = made.release();
    return status;
  });
}

chol_status_t chol_tlr_stats(chol_tlr_t A, chol_tlr_stats_t* stats) {
  static constexpr const char* kFunction = "chol_tlr_stats";
  return enter_matrix(A, kFunction, Holds::anything, [&] {
    Status status = check(kFunction, {array("stats", stats, true)});
    if (!status.ok()) return status;
    if (stats->size != sizeof(chol_tlr_stats_t))
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "%s: stats->size = %zu, must be sizeof(chol_tlr_stats_t) = %zu",
                           kFunction, stats->size, sizeof(chol_tlr_stats_t));
    A->apply([&](const auto& matrix) { tlr::describe(matrix, *stats); });
    return status;
  });
}

chol_status_t chol_tlr_ranks(chol_tlr_t A, int64_t* ranks) {
  static constexpr const char* kFunction = "chol_tlr_ranks";
  return enter_matrix(A, kFunction, Holds::matrix_or_factor, [&] {
    const Status status = check(kFunction, {array("ranks", ranks, true)});
    if (status.ok()) A->apply([&](const auto& matrix) { tlr::write_ranks(matrix, ranks); });
    return status;
  });
}

chol_status_t chol_tlr_permutation(chol_tlr_t A, int64_t* permutation) {
  static constexpr const char* kFunction = "chol_tlr_permutation";
  return enter_matrix(A, kFunction, Holds::factor, [&] {
    const int64_t n = A->apply([](const auto& matrix) { return matrix.n; });
    const Status status = check(kFunction, {array("permutation", permutation, n > 0)});
    if (!status.ok()) return status;
    A->apply([&](const auto& matrix) {
      std::iota(permutation, permutation + n, int64_t{0});
      std::copy(matrix.permutation.begin(), matrix.permutation.end(), permutation);
    });
    return status;
  });
}

chol_status_t chol_tlr_get_tile(chol_tlr_t A, int64_t i, int64_t j, void* block, int64_t ldb) {
  static constexpr const char* kFunction = "chol_tlr_get_tile";
  return enter_matrix(A, kFunction, Holds::matrix_or_factor, [&]() -> Status {
    const int64_t tiles = A->apply([](const auto& matrix) { return matrix.tiles; });
    for (const auto& [name, index] : {std::pair("i", i), std::pair("j", j)})
      if (index < 0 || index >= tiles)
        return Status::error(
            CHOL_STATUS_INVALID_VALUE,
            "%s: %s = %lld, must be at least 0 and below the number of tiles = %lld", kFunction,
            name, static_cast<long long>(index), static_cast<long long>(tiles));
    const int64_t rows = A->apply([&](const auto& matrix) { return matrix.rows(i); });
    Status status = check(kFunction, {array("block", block, true),
                                      at_least("ldb", ldb, rows, "the rows of the tile")});
    if (!status.ok()) return status;
    return A->apply([&]<class T>(const tlr::Matrix<T>& matrix) {
      const auto ops = routine::tile_ops<T>(*A->handle);
      tlr::expand_tile(*ops, matrix, i, j, static_cast<T*>(block), ldb);
      return Status();
    });
  });
}

chol_status_t chol_tlr_save(chol_tlr_t A, const char* path) {
  static constexpr const char* kFunction = "chol_tlr_save";
  return enter_matrix(A, kFunction, Holds::matrix_or_factor, [&] {
    const Status status = check(kFunction, {array("path", path, true)});
    if (!status.ok()) return status;
    return A->apply([&]<class T>(const tlr::Matrix<T>& matrix) {
      return tlr::save(*routine::tile_ops<T>(*A->handle), matrix, path);
    });
  });
}

chol_status_t chol_tlr_load(chol_handle_t handle, const char* path, chol_tlr_t* A) {
  static constexpr const char* kFunction = "chol_tlr_load";
  if (A) *A = nullptr;
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    tlr::FileHeader header;
    std::unique_ptr<chol_tlr_s> made;
    Status status = check(kFunction, {array("path", path, true), array("A", A, true)});
    if (status.ok()) status = tlr::load_header(path, header);
    if (status.ok())
      status = make_matrix(h, static_cast<chol_type_t>(header.type), header.n, header.tile, made);
    if (!status.ok()) return status;
    status = std::visit(
        [&]<class T>(std::unique_ptr<tlr::Matrix<T>>& pointer) {
          const auto ops = routine::tile_ops<T>(h);
          const Status loaded = tlr::load<T>(*ops, path, header, pointer);
          // A factor's inverted blocks are made anew.
          if (loaded.ok()) tlr::invert_diagonal(*ops, *pointer);
          return loaded;
        },
        made->matrix);
    if (status.ok()) *A = made.release();
    return status;
  });
}

}  // extern "C"
