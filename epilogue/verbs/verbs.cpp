// SPDX-License-Identifier: Apache-2.0
// A new verb needs its file, and its name twice here.
#include "epilogue/verbs/verbs.h"

#include <algorithm>

namespace epi::verbs {

extern const Verb kAdvise, kBreakdown, kCompare, kExpect, kExplain, kQuery, kRanks, kReport, kSteps,
    kSummary, kTable, kTree;

namespace {

constexpr const Verb* kVerbs[] = {&kSummary, &kTable,     &kSteps,  &kTree,  &kExplain, &kCompare,
                                  &kExpect,  &kBreakdown, &kAdvise, &kRanks, &kQuery,   &kReport};

}  // namespace

std::span<const Verb* const> trace_verbs() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
  const auto found = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                  [&](const Verb* verb) { return verb->name == name; });
  return found == std::end(kVerbs) ? nullptr : *found;
}

}  // namespace epi::verbs
