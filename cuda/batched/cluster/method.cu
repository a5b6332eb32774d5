// One thread block cluster a matrix, as a method.
#include "batched/cluster/interface.hpp"
#include "batched/method.hpp"
#include "tune/factor_rows.hpp"

namespace chol::cuda {
namespace {

constexpr Knob kKnobs[] = {
    {"threads", 128, 256, "threads of a block"},
    {"blocks", 1, 8, "blocks of the cluster that works on a matrix"},
    {"paired", 0, 1, "1: block columns in pairs, with the bits of multi_panel_potrf"}};

const AddBatchMethods methods([]<class T>(BatchMethods<T>& all) {
  all.add({factor::kCluster, kKnobs,
           // Whether the device has clusters and can run such a kernel is checked at the launch.
           [](const Case&, const Params&, const DeviceLimits&) { return true; },
           [](const BatchProblem<T>& problem, const Params& params, cudaStream_t stream) {
             return run_clusters(problem, {params.of("threads"), params.of("blocks")},
                                 params.of("paired") != 0, stream);
           }});
});

}  // namespace
}  // namespace chol::cuda
