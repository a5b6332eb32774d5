// Functions of a library opened with dlopen.
#pragma once

#include <dlfcn.h>

namespace chol {

/// Looks up a function and stores it in `function`; returns whether it exists.
template <class Function>
bool find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace chol
