#include "interleaved/jit/request.hpp"

#include <stdexcept>

namespace chol::cuda {
namespace {

const char* type_name(char precision) {
  switch (precision) {
    case 's':
      return "float";
    case 'd':
      return "double";
    case 'c':
      return "chol::cuda::Complex<float>";
    default:
      return "chol::cuda::Complex<double>";
  }
}

std::string task_name(Routine routine) {
  return std::string("chol::cuda::InterleavedTask::") + (routine == Routine::potrf ? "factor"
                                                         : routine == Routine::potrs
                                                             ? "solve"
                                                             : "factor_and_solve");
}

/// "chol::cuda::name<first, ...>"
template <class... Parts>
std::string instance(const char* name, const std::string& first, const Parts&... others) {
  return std::string("chol::cuda::") + name + '<' + first + ((", " + others) + ...) + '>';
}

std::string text(int number) { return std::to_string(number); }

/// The request.
struct Asked {
  KernelKind kind;
  const Choice& choice;
  int n;
  const CompileTarget& device;
  std::string type, task;
};

KernelRequest registers_request(const Asked& asked) {
  return {"interleaved/thread/registers.cuh",
          instance("registers_kernel", asked.type, text(asked.n), asked.task),
          asked.device.capability};
}

KernelRequest columns_request(const Asked& asked) {
  const ColumnsParams params = ColumnsParams::of(asked.choice);
  const ThreadsShape shape = threads_shape(asked.kind, params, asked.n);
  const int capability = asked.device.capability;
  const std::string padded = text(shape.threads > 0 ? shape.order(asked.n) : asked.n),
                    threads = text(shape.threads), held = text(shape.columns);
  if (!asked.kind.factors())
    return {"interleaved/threads/solve.cuh",
            instance("threads_solve_kernel", asked.type, padded, threads, held), capability};
  if (shape.threads > 0)
    return {"interleaved/threads/factor.cuh",
            instance("threads_factor_kernel", asked.type, padded, asked.task, threads, held),
            capability};
  const std::string columns = text(leading_columns(asked.kind, params, asked.n));
  return {"interleaved/thread/left_looking.cuh",
          instance("columns_kernel", asked.type, padded, asked.task, columns), capability};
}

KernelRequest shared_request(const Asked& asked) {
  const SharedKnobs knobs = shared_knobs(asked.choice);
  const KernelKind& kind = asked.kind;
  const int64_t bytes = shared_block_bytes(kind.bytes, asked.n, kind.vectors(), knobs);
  const int least = least_blocks(knobs, bytes, asked.device.processor_memory);
  const std::string shape =
      instance("InterleavedSharedShape", text(knobs.columns), text(kSharedRows), text(knobs.lanes),
               text(knobs.threads), text(least));
  return {"interleaved/shared/factor.cuh", instance("shared_kernel", asked.type, shape, asked.task),
          asked.device.capability};
}

KernelRequest tiled_request(const Asked& asked) {
  constexpr const char* kNames[] = {"left", "right", "top"};
  const auto [tile, looking, unrolled, threads] = tiled_knobs(asked.choice);
  return {"interleaved/thread/tiled.cuh",
          instance("tiled_kernel", asked.type, asked.task, text(tile),
                   std::string("chol::cuda::Looking::") + kNames[static_cast<int>(looking)],
                   unrolled ? text(asked.n) : "0", text(threads)),
          asked.device.capability};
}

constexpr struct {
  const MethodInfo* info;
  KernelRequest (*request)(const Asked& asked);
} kRequests[] = {{&kInterleavedRegisters, registers_request},
                 {&kInterleavedColumns, columns_request},
                 {&kInterleavedShared, shared_request},
                 {&kInterleavedTiled, tiled_request}};

}  // namespace

KernelRequest interleaved_request(Routine routine, char precision, const Choice& choice, int n,
                                  const CompileTarget& device) {
  for (const auto& method : kRequests)
    if (choice.is(*method.info))
      return method.request(
          {{routine, precision}, choice, n, device, type_name(precision), task_name(routine)});
  throw std::invalid_argument("this method is not compiled at run time");
}

}  // namespace chol::cuda
