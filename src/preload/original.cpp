#include "preload/original.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

namespace chol::preload {
namespace {

const void* base_of(const void* address) {
  Dl_info object;
  return address && dladdr(address, &object) ? object.dli_fbase : nullptr;
}

bool is_ours(const void* function) {
  return base_of(function) == base_of(reinterpret_cast<const void*>(&is_ours));
}

/// Prevents the shared object of `function` from being unloaded.
void* pinned(void* function) {
  Dl_info object;
  if (dladdr(function, &object) && object.dli_fname)
    dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  return function;
}

std::vector<std::string> loaded_objects() {
  std::vector<std::string> names;
  // Objects are opened afterwards: the loader's list is locked during the iteration.
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* list) {
        if (object->dlpi_name && *object->dlpi_name)
          static_cast<std::vector<std::string>*>(list)->emplace_back(object->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

/// The symbol in one object or its dependencies; if found, the object stays loaded.
void* find_in(const char* object, const char* symbol, int load) {
  void* handle = dlopen(object, RTLD_LAZY | load);
  if (!handle) return nullptr;
  void* function = dlsym(handle, symbol);
  if (function && is_ours(function)) function = nullptr;
  if (function) pinned(function);
  dlclose(handle);
  return function;
}

void* find_outside_global_scope(const char* symbol, const char* fallback) {
  try {
    for (const std::string& object : loaded_objects())
      if (void* function = find_in(object.c_str(), symbol, RTLD_NOLOAD)) return function;
  } catch (const std::bad_alloc&) {  // without the list of objects the fallback is used
  }
  return find_in(fallback, symbol, RTLD_LOCAL);
}

/// The function that returns the number of threads of the BLAS next to `function`, or one that
/// returns 0.
int (*find_thread_count(void (*function)()))() {
  static constexpr const char* kNames[] = {"openblas_get_num_threads",
                                           "openblas_get_num_threads64_",
                                           "scipy_openblas_get_num_threads",
                                           "scipy_openblas_get_num_threads64_",
                                           "MKL_Get_Max_Threads",
                                           "bli_thread_get_num_threads"};
  Dl_info object;
  if (function && dladdr(reinterpret_cast<const void*>(function), &object) && object.dli_fname)
    for (const char* name : kNames)
      if (void* count = find_in(object.dli_fname, name, RTLD_NOLOAD))
        return reinterpret_cast<int (*)()>(count);
  return [] { return 0; };
}

}  // namespace

void* find_original(const char* symbol, const char* fallback) {
  void* function = dlsym(RTLD_NEXT, symbol);
  return function ? pinned(function) : find_outside_global_scope(symbol, fallback);
}

void* find_in_process(const char* symbol) {
  void* function = dlsym(RTLD_DEFAULT, symbol);
  return function ? pinned(function) : find_outside_global_scope(symbol, kSystemLapack);
}

int Original::threads() {
  Count* count = count_.load(std::memory_order_acquire);
  if (!count) {
    count = find_thread_count(get<void()>());
    count_.store(count, std::memory_order_release);
  }
  return std::max(count(), 0);
}

}  // namespace chol::preload
