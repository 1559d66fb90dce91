// SPDX-License-Identifier: Apache-2.0
// Decoded names of a trace's device work. Each distinct name is decoded once.
#pragma once

#include <optional>
#include <vector>

#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

class DecodedNames {
 public:
  explicit DecodedNames(const trace::Trace& trace);
  // `name` must be the name of at least one device event.
  const DecodedName& operator[](trace::NameId name) const { return decoded_[index_[name]]; }
  // Takes the kinds that names do not give from the operators around the launches.
  void take_kinds_of_ops(const trace::Trace& trace, const trace::Links& links);
  // Whether the kind comes from an operator.
  bool is_kind_of_op(trace::NameId name) const { return of_op_[index_[name]]; }

 private:
  std::vector<uint32_t> index_;  // index into `decoded_` by name; 0 if no device work has the name
  std::vector<DecodedName> decoded_;
  std::vector<bool> of_op_;  // as `decoded_`
};

}  // namespace epi::analysis
