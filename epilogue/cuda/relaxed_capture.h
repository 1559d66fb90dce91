// SPDX-License-Identifier: Apache-2.0
// While it lives, the calling thread may make calls that are no work of a stream (cudaMalloc,
// cudaEventQuery) though some stream is being captured.
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
