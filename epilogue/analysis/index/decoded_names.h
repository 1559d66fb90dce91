// SPDX-License-Identifier: Apache-2.0
// The names of a trace's device work, each read once.
#pragma once

#include <optional>
#include <vector>

#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

class DecodedNames {
 public:
  explicit DecodedNames(const trace::Trace& trace);
  // Of a name that some device work has.
  const DecodedName& operator[](trace::NameId name) const { return read_[places_[name]]; }

 private:
  std::vector<uint32_t> places_;  // by name; 0 where no device work is called so
  std::vector<DecodedName> read_;
};

}  // namespace epi::analysis
