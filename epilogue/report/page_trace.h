// SPDX-License-Identifier: Apache-2.0
// A trace that the page shows.
#pragma once

#include <string>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::report {

struct PageTrace {
  std::string file;
  const analysis::TraceIndex& index;
};

}  // namespace epi::report
