// SPDX-License-Identifier: Apache-2.0
// What binds a step, with the numbers behind it.
#pragma once

#include <string>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/time/regime.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

// "arithmetic: 48 % of 347.6 us; dispatch 23 %, memory 20 %, launches 10 %"
std::string use_text(const analysis::TimeUse& use);
void use_json(JsonWriter& json, const analysis::TimeUse& use);

// "79 % FLOP/s", "88 % B/s"; a dash where nothing is known.
std::string rate_text(const analysis::KernelRate& rate);
void rate_json(JsonWriter& json, const analysis::KernelRate& rate);

}  // namespace epi::report
