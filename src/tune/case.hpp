// A call as the key of tuning rows.
#pragma once

#include <cstdint>

#include "tune/routine.hpp"

namespace chol {

struct Case {
  Routine routine = Routine::potrf;
  Form form = Form::batch;
  char precision = 'd';
  bool upper = false;
  bool aligned = true;    ///< columns start at multiples of 16 bytes; true if not known
  bool variable = false;  ///< orders differ
  int64_t n = 0, nrhs = 0, batch = 0;
};

/// Values least, least + step, ... up to `most`.
struct Range {
  int64_t least = 0, most = INT64_MAX, step = 1;

  constexpr bool has(int64_t value) const {
    return least <= value && value <= most && (step == 1 || (value - least) % step == 0);
  }
  constexpr bool is_empty() const { return least > most; }
};

}  // namespace chol
