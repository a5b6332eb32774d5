// C ABI: chol_info_summary, the number of failures of a batch and the first one.
#include "api/call.hpp"

using namespace chol;
using namespace chol::api;

extern "C" chol_status_t chol_info_summary(chol_handle_t handle, const int info[], int64_t batch,
                                           int64_t* failed, int64_t* first) {
  static constexpr const char* kFunction = "chol_info_summary";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    Status status = check(kFunction, {array("info", info, batch > 0), at_least("batch", batch, 0),
                                      array("failed", failed, true), array("first", first, true)});
    routine::BackendSlot* slot = nullptr;
    // The memory of info selects the backend; the results may be in other memory.
    if (status.ok()) status = slot_of(h, kFunction, {{"info", info}}, &slot);
    if (!status.ok()) return status;
    return slot->backend->summarize_info(info, batch, failed, first, slot->stream);
  });
}
