// SPDX-License-Identifier: Apache-2.0
// gpu_recorder.h for builds without CUDA.
#include "epilogue/profile/gpu_recorder.h"

namespace epi::profile {

void begin_gpu_recording() {}
void restart_gpu_recording() {}
void wait_for_gpus() {}
GpuRecords end_gpu_recording() { return {}; }
void drop_gpu_recording() {}
bool gpu_is_recording() { return false; }
bool mark_launch(uint64_t /*id*/) { return false; }
void unmark_launch() {}

}  // namespace epi::profile
