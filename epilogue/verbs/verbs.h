// SPDX-License-Identifier: Apache-2.0
// The verbs over traces. The command and the C interface have all of them.
#pragma once

#include <span>
#include <string_view>

#include "epilogue/verbs/verb.h"

namespace epi::verbs {

// In the order of --help.
std::span<const Verb* const> trace_verbs();
// Null if there is none with this name.
const Verb* find_verb(std::string_view name);

}  // namespace epi::verbs
