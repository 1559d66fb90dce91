// SPDX-License-Identifier: Apache-2.0
// Reads traces from tests/data.
#pragma once

#include <stdexcept>
#include <string>

#include "epilogue/trace/reader.h"

namespace epi::analysis {

inline trace::Trace read_data(const std::string& name) {
  auto trace = trace::read(std::string(EPI_TEST_DATA) + "/" + name);
  if (!trace) throw std::runtime_error(trace.error().message);
  return std::move(*trace);
}

}  // namespace epi::analysis
