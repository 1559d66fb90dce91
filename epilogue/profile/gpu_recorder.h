// SPDX-License-Identifier: Apache-2.0
// Records GPU activity during a recording. These functions do nothing if the process does not use
// CUDA or the build has no CUDA support. If CUPTI cannot record, the result of `end_gpu_recording`
// gives the reason.
#pragma once

#include "epilogue/profile/gpu_records.h"

namespace epi::profile {

// The first call loads CUPTI if the process has loaded the CUDA driver, which is slow. CUPTI stays
// loaded. The functions that begin, restart, end and drop a recording must not run concurrently.
void begin_gpu_recording();
// Discards what was recorded so far. Records that CUPTI still buffers are kept.
void restart_gpu_recording();
// Waits for all work on the GPUs.
void wait_for_gpus();
GpuRecords end_gpu_recording();
void drop_gpu_recording();

bool gpu_is_recording();
// Assigns GPU work that the calling thread launches from now on to this launch. Returns false on
// failure.
bool mark_launch(uint64_t id);
void unmark_launch();

}  // namespace epi::profile
