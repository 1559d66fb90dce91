// SPDX-License-Identifier: Apache-2.0
// What recording a GPU costs the CPU that launches.
#pragma once

#include "bench/suite.h"

namespace epi::bench {

// Adds nothing but a line on stderr where there is no device.
void add_profile_gpu(Suite& suite);

}  // namespace epi::bench
