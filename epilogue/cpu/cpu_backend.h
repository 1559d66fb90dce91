// SPDX-License-Identifier: Apache-2.0
// The CPU backend's entry: call it once, before the first operator; calling it again does nothing.
#pragma once

namespace epi {

void register_cpu_backend();

}  // namespace epi
