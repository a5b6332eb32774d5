// Functions of a library that was opened, not linked.
#pragma once

#include <dlfcn.h>

namespace chol {

/// Whether the library has that function, which goes into `function`.
template <class Function>
bool find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace chol
