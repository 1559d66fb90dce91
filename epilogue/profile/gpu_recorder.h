// SPDX-License-Identifier: Apache-2.0
// What the GPUs do while a recording is under way. Where the process uses no CUDA, or the build
// knows none, all of this does nothing; where CUPTI cannot record, `end` says why.
#pragma once

#include "epilogue/profile/gpu_records.h"

namespace epi::profile {

// CUPTI is loaded the first time, where the process has loaded the driver, and stays: that time it
// takes long. The functions that begin, restart, end and drop are called one at a time.
void begin_gpu_recording();
// Drops what was recorded so far, as far as it can be dropped at once.
void restart_gpu_recording();
// Returns when the GPUs have done all that they were given.
void wait_for_gpus();
GpuRecords end_gpu_recording();
void drop_gpu_recording();

bool gpu_is_recording();
// From here on what the calling thread starts on a GPU belongs to this launch; false where that
// could not be noted.
bool mark_launch(uint64_t id);
void unmark_launch();

}  // namespace epi::profile
