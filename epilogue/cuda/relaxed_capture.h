// SPDX-License-Identifier: Apache-2.0
// Scope in which the calling thread may make calls that capture modes other than relaxed forbid
// (cudaMalloc, cudaEventQuery) while a stream is being captured.
#pragma once

#include <cuda_runtime_api.h>

namespace epi::cuda {

class RelaxedCapture {
 public:
  RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace epi::cuda
