// One exported function: its name, the original, and how it reports errors.
#pragma once

#include "preload/account.hpp"
#include "preload/original.hpp"
#include "preload/settings.hpp"

namespace chol::preload {

/// A routine's name as LAPACK passes it to xerbla_: capitals, padded with blanks to six.
class LapackName {
 public:
  consteval explicit LapackName(const char* routine) noexcept {
    for (; routine[length_]; ++length_) {
      const char letter = routine[length_];
      text_[length_] = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter;
    }
    while (length_ < 6) text_[length_++] = ' ';
  }
  const char* text() const { return text_; }
  size_t length() const { return length_; }

 private:
  char text_[8] = {};
  size_t length_ = 0;
};

/// A wrapper's constants and its original. Constant-initialized: a constructor of another library
/// may call a wrapper before this library's constructors ran.
struct Entry {
  Account& account;
  uint32_t bit;        ///< selection_bit() of its family
  LapackName lapack;   ///< for xerbla_
  const char* xerbla;  ///< the name of xerbla_ under the entry's decoration
  Original original;

  bool is_selected() const { return (settings().selected & bit) != 0; }
};

/// Calls xerbla_ as LAPACK does when argument `position` of the entry's routine is wrong.
void report_argument(const Entry& entry, int position);

/// The call cannot be served: chol is disabled or unable, and there is no original. Returns
/// LAPACKE's info for failed allocations.
int report_nobody(const char* symbol);

}  // namespace chol::preload
