#include "compile/nvrtc.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <vector>

#include "base/symbol.hpp"
#include "chol.h"
#include "compile/cache.hpp"
#include "compile/sources.hpp"

namespace chol::cuda {
namespace {

// The part of nvrtc.h that is used.
using Program = struct OpaqueProgram*;
using Result = int;

struct Compiler {
  int version = 0;
  Result (*get_version)(int* major, int* minor) = nullptr;
  Result (*create)(Program*, const char* source, const char* name, int count,
                   const char* const* texts, const char* const* names) = nullptr;
  Result (*destroy)(Program*) = nullptr;
  Result (*add_name)(Program, const char* name) = nullptr;
  Result (*compile)(Program, int count, const char* const* options) = nullptr;
  Result (*lowered_name)(Program, const char* name, const char** lowered) = nullptr;
  Result (*code_size)(Program, size_t*) = nullptr;
  Result (*code)(Program, char*) = nullptr;
  Result (*log_size)(Program, size_t*) = nullptr;
  Result (*log)(Program, char*) = nullptr;
};

Compiler open_compiler() {
  void* library = nullptr;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  Compiler c;
  int major = 0, minor = 0;
  if (library && find_symbol(library, "nvrtcVersion", c.get_version) &&
      find_symbol(library, "nvrtcCreateProgram", c.create) &&
      find_symbol(library, "nvrtcDestroyProgram", c.destroy) &&
      find_symbol(library, "nvrtcAddNameExpression", c.add_name) &&
      find_symbol(library, "nvrtcCompileProgram", c.compile) &&
      find_symbol(library, "nvrtcGetLoweredName", c.lowered_name) &&
      find_symbol(library, "nvrtcGetCUBINSize", c.code_size) &&
      find_symbol(library, "nvrtcGetCUBIN", c.code) &&
      find_symbol(library, "nvrtcGetProgramLogSize", c.log_size) &&
      find_symbol(library, "nvrtcGetProgramLog", c.log) && c.get_version(&major, &minor) == 0)
    c.version = 100 * major + minor;
  return c;
}

const Compiler& compiler() {
  static const Compiler opened = open_compiler();
  return opened;
}

// Standard headers that the kernels' headers include.
constexpr const char* kStandIn = "compile/std_for_device.hpp";
constexpr const char* kStandard[] = {"cfloat", "complex", "cstdint", "type_traits", "utility"};

struct Headers {
  std::vector<const char*> names, texts;
};
Headers headers() {
  Headers all;
  const char* stand_in = "";
  for (size_t i = 0; i < kEmbeddedHeaderCount; ++i) {
    const EmbeddedHeader& header = kEmbeddedHeaders[i];
    all.names.push_back(header.name);
    all.texts.push_back(header.text);
    if (header.name == std::string(kStandIn)) stand_in = header.text;
  }
  for (const char* name : kStandard) {
    all.names.push_back(name);
    all.texts.push_back(stand_in);
  }
  return all;
}

std::string architecture(const KernelRequest& request) {
  return "--gpu-architecture=sm_" + std::to_string(request.capability);
}
// constexpr functions without __device__ are used for constants.
constexpr const char* kOptions = "--device-as-default-execution-space";
constexpr const char* kLanguage = "--std=c++20";

/// A program with reference counting.
struct OwnedProgram {
  Program program = nullptr;
  ~OwnedProgram() {
    if (program) compiler().destroy(&program);
  }
};

Status refused(Program program, const KernelRequest& request) {
  size_t size = 0;
  compiler().log_size(program, &size);
  std::string log(size, '\0');
  if (size) compiler().log(program, log.data());
  const std::string first = log.substr(0, log.find_first_of(std::string("\n\0", 2)));
  return Status::error(CHOL_STATUS_INTERNAL, "%s: NVRTC: %.300s", request.name.c_str(),
                       first.c_str());
}

}  // namespace

int nvrtc_version() { return compiler().version; }

Status compile(const KernelRequest& request, Cubin& cubin) {
  const Compiler& c = compiler();
  if (c.version == 0)
    return Status::error(CHOL_STATUS_NOT_SUPPORTED, "libnvrtc is not on this machine");
  const Headers all = headers();
  const std::string source = "#include \"" + request.header + "\"\n",
                    target = architecture(request);
  const char* const options[] = {target.c_str(), kLanguage, kOptions};
  OwnedProgram owned;
  if (c.create(&owned.program, source.c_str(), "chol.cu", int(all.names.size()), all.texts.data(),
               all.names.data()) != 0)
    return Status::error(CHOL_STATUS_INTERNAL, "%s: NVRTC takes no program", request.name.c_str());
  const char* symbol = nullptr;
  size_t size = 0;
  if (c.add_name(owned.program, request.name.c_str()) != 0 ||
      c.compile(owned.program, 3, options) != 0 ||
      c.lowered_name(owned.program, request.name.c_str(), &symbol) != 0 ||
      c.code_size(owned.program, &size) != 0 || size == 0)
    return refused(owned.program, request);
  cubin.symbol = symbol;
  cubin.code.resize(size);
  if (c.code(owned.program, cubin.code.data()) != 0) return refused(owned.program, request);
  return Status::success();
}

std::string request_key(const KernelRequest& request) {
  uint64_t hash = hash_of("");
  // Terminators are hashed too, so that parts cannot run together.
  const auto add = [&](const std::string& part) { hash = hash_of(part + '\n', hash); };
  for (size_t i = 0; i < kEmbeddedHeaderCount; ++i) {
    add(kEmbeddedHeaders[i].name);
    add(kEmbeddedHeaders[i].text);
  }
  for (const std::string& part :
       {request.header, request.name, architecture(request), std::string(kLanguage),
        std::string(kOptions), std::to_string(nvrtc_version())})
    add(part);
  char name[64];
  std::snprintf(name, sizeof name, "sm_%d_%016llx.cubin", request.capability,
                static_cast<unsigned long long>(hash));
  return name;
}

}  // namespace chol::cuda
