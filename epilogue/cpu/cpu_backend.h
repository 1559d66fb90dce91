// SPDX-License-Identifier: Apache-2.0
// Entry point of the CPU backend. Call it once, before the first operator. Further calls do
// nothing.
#pragma once

namespace epi {

void register_cpu_backend();

}  // namespace epi
