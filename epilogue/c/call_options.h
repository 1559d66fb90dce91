// SPDX-License-Identifier: Apache-2.0
// The options of a call, given as a JSON object.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "epilogue/trace.h"
#include "epilogue/verbs/verb.h"

namespace epi::c {

// A member of the object. Members that are false or null are left out; true is the value "true".
struct GivenOption {
  std::string key;  // with underscores
  std::vector<std::string> values;

  // Throws `Error` if there are several.
  const std::string& value() const;
};

// The text is null or a JSON object. Throws `Error` with the rule that it breaks.
std::vector<GivenOption> parse_options(const char* text);

// The value of an option that must be a positive number. Throws `Error` otherwise.
int64_t positive_number(const GivenOption& option);

// The options of `given` that every verb has, and the format. Throws `Error` for a format that the
// verb does not have.
verbs::CallOptions call_options(const verbs::Verb& verb, const std::vector<GivenOption>& given,
                                epi_format format);
// Sets the options of a verb, without those that every verb has. Throws `Error` for an option that
// it does not have.
void set_options(const verbs::Verb& verb, const verbs::Options& options,
                 const std::vector<GivenOption>& given);
// Sets the traces of a verb, in order: each of its arguments takes one, and a list at the end the
// rest. Throws `Error` if there are too few or too many.
void set_traces(const verbs::Verb& verb, const verbs::Options& options,
                const std::vector<std::shared_ptr<const verbs::OpenTraces>>& traces);

}  // namespace epi::c
