#include "interleaved/jit/request.hpp"

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

/// "chol::cuda::tiled_kernel<...>"
std::string tiled_kernel(const std::string& type, const std::string& task, const Plan& plan,
                         const std::string& order) {
  const auto [tile, looking, unrolled, threads] = tiled_knobs(plan);
  const char* const name = looking == Looking::left    ? "left"
                           : looking == Looking::right ? "right"
                                                       : "top";
  return instance("tiled_kernel", type, task, std::to_string(tile),
                  std::string("chol::cuda::Looking::") + name, unrolled ? order : "0",
                  std::to_string(threads));
}

std::string shape_of(const SharedKnobs& knobs, int least) {
  const auto text = [](int number) { return std::to_string(number); };
  return instance("InterleavedSharedShape", text(knobs.columns), text(kSharedRows),
                  text(knobs.lanes), text(knobs.threads), text(least));
}

}  // namespace

KernelRequest interleaved_request(Routine routine, char precision, const Plan& plan, int n,
                                  const DeviceLimits& device) {
  const KernelKind kind{routine, precision};
  const std::string type = type_name(precision), task = task_name(routine),
                    order = std::to_string(n);
  if (plan.method == Method::lanes)
    return {"interleaved/thread/registers.cuh", instance("registers_kernel", type, order, task),
            device.capability};
  if (plan.method == Method::blocked)
    return {"interleaved/thread/tiled.cuh", tiled_kernel(type, task, plan, order),
            device.capability};
  if (plan.method == Method::panel) {
    const ThreadsShape shape = panel_shape(kind, plan, n);
    const std::string padded = std::to_string(shape.threads > 0 ? shape.order(n) : n),
                      threads = std::to_string(shape.threads), held = std::to_string(shape.columns);
    if (!kind.factors())
      return {"interleaved/threads/solve.cuh",
              instance("threads_solve_kernel", type, padded, threads, held), device.capability};
    if (shape.threads > 0)
      return {"interleaved/threads/factor.cuh",
              instance("threads_factor_kernel", type, padded, task, threads, held),
              device.capability};
    const std::string columns = std::to_string(panel_columns(kind, plan, n));
    return {"interleaved/thread/left_looking.cuh",
            instance("columns_kernel", type, order, task, columns), device.capability};
  }
  const SharedKnobs knobs = shared_knobs(plan);
  const int least = least_blocks(knobs, shared_block_bytes(kind.bytes, n, kind.vectors(), knobs),
                                 device.processor_memory);
  return {"interleaved/shared/factor.cuh",
          instance("shared_kernel", type, shape_of(knobs, least), task), device.capability};
}

}  // namespace chol::cuda
