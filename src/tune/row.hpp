// Policy as data: which cases a method serves, and the rows of one routine, form and precision.
#pragma once

#include <algorithm>
#include <vector>

#include "tune/case.hpp"
#include "tune/choice.hpp"

namespace chol {

/// Whether a row serves cases with a property, without it, or both.
enum class Only : uint8_t { both, without, with };
constexpr bool allows(Only only, bool has) {
  return only == Only::both || (only == Only::with) == has;
}

/// The cases that a row serves.
struct Cases {
  Range n{}, nrhs{}, batch{};
  Only upper = Only::both, aligned = Only::both, variable = Only::both;

  constexpr bool has(const Case& asked) const {
    return n.has(asked.n) && nrhs.has(asked.nrhs) && batch.has(asked.batch) &&
           allows(upper, asked.upper) && allows(aligned, asked.aligned) &&
           allows(variable, asked.variable);
  }
  /// Whether only the order decides.
  constexpr bool are_by_order() const {
    Cases all = *this;
    all.n = {};
    return all.has_all_within(INT64_MAX, INT64_MAX);
  }
  /// All cases of orders and right-hand sides up to these.
  constexpr bool has_all_within(int64_t most_n, int64_t most_nrhs) const {
    return n.least <= 1 && n.most >= most_n && n.step == 1 && nrhs.least == 0 &&
           nrhs.most >= most_nrhs && batch.least <= 1 && batch.most == INT64_MAX &&
           upper == Only::both && aligned == Only::both && variable == Only::both;
  }
};

struct Row {
  Routine routine;
  Form form;
  char precision;  ///< s, d, c, z
  Cases cases;
  Choice choice;
};

/// The rows of one routine, form and precision. The first that has a case serves it.
class RowTable {
 public:
  RowTable() = default;
  /// Of one choice for every case.
  explicit RowTable(const Choice& choice) { add({}, choice); }

  void add(const Cases& cases, const Choice& choice) {
    rows_.push_back({cases, choice, cases.are_by_order()});
  }
  /// Inserts other rows before these.
  void lay(const RowTable& others) {
    rows_.insert(rows_.begin(), others.rows_.begin(), others.rows_.end());
  }
  bool empty() const { return rows_.empty(); }

  /// The last row also serves cases that no row matches.
  const Choice& choose(const Case& asked) const {
    for (const Entry& row : rows_)
      if (row.has(asked)) return row.choice;
    return rows_.back().choice;
  }
  /// The first row that has the case and that accepts(choice), nullptr when there is none.
  template <class Accepts>
  const Choice* choose(const Case& asked, Accepts&& accepts) const {
    for (const Entry& row : rows_)
      if (row.has(asked) && accepts(row.choice)) return &row.choice;
    return nullptr;
  }
  /// Calls visit(choice, largest order, most right-hand sides) for every row that may serve a case
  /// of orders and right-hand sides up to these.
  template <class Visit>
  void for_each_within(int64_t n, int64_t nrhs, Visit&& visit) const {
    for (const Entry& row : rows_) {
      if (row.cases.n.least > n || row.cases.nrhs.least > nrhs) continue;
      visit(row.choice, std::min(row.cases.n.most, n), std::min(row.cases.nrhs.most, nrhs));
      if (row.cases.has_all_within(n, nrhs)) break;
    }
  }

 private:
  struct Entry {
    Cases cases;
    Choice choice;
    bool by_order;  ///< spares small calls the other tests

    bool has(const Case& asked) const { return by_order ? cases.n.has(asked.n) : cases.has(asked); }
  };
  std::vector<Entry> rows_;
};

}  // namespace chol
