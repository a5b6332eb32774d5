#include "native/residues/progress.hpp"

namespace chol::cuda::residues {

Progress::~Progress() {
  for (cudaEvent_t event : sent_)
    if (event) cudaEventDestroy(event);
  if (reports_) cudaFreeHost(reports_);
}

Status Progress::prepare() {
  for (cudaEvent_t& event : sent_) {
    if (event) continue;
    const Status status =
        status_of(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "report of panels");
    if (!status.ok()) return status;
  }
  if (reports_) return Status::success();
  return status_of(cudaMallocHost(reinterpret_cast<void**>(&reports_), sizeof(Report) * 2),
                   "report of panels");
}

Status Progress::send(int panel, const int* flagged, const int* info, cudaStream_t stream) {
  Report& report = reports_[panel & 1];
  cudaError_t error =
      cudaMemcpyAsync(&report.flagged, flagged, sizeof(int), cudaMemcpyDeviceToHost, stream);
  if (error == cudaSuccess)
    error = cudaMemcpyAsync(&report.info, info, sizeof(int), cudaMemcpyDeviceToHost, stream);
  if (error == cudaSuccess) error = cudaEventRecord(sent_[panel & 1], stream);
  return status_of(error, "report of a panel");
}

Status Progress::receive(int panel, Report* report) const {
  const Status status = status_of(cudaEventSynchronize(sent_[panel & 1]), "report of a panel");
  if (status.ok()) *report = reports_[panel & 1];
  return status;
}

}  // namespace chol::cuda::residues
