// SPDX-License-Identifier: Apache-2.0
// The host time that recording adds to a GPU launch.
#pragma once

#include "bench/suite.h"

namespace epi::bench {

// If there is no device, prints a line to stderr and adds nothing.
void add_profile_gpu(Suite& suite);

}  // namespace epi::bench
