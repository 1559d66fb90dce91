// SPDX-License-Identifier: Apache-2.0
// Text for the enums of analysis. Switches over all values have no default, so that a new value
// without text fails the build (-Werror=switch).
#pragma once

#include <cstdint>
#include <string>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/analysis/time/host_activity.h"

namespace epi::report {

// The spelling in JSON: "fuse", "gated_mlp".
const char* text_of(analysis::AdviceKind kind);
const char* text_of(analysis::Confidence confidence);
const char* text_of(analysis::Verdict verdict);
const char* text_of(analysis::Bound bound);
const char* text_of(analysis::HostActivity activity);
// The spelling in JSON: "not_launched".
const char* text_of(analysis::IdleCause cause);
// In a sentence: "compute-bound kernels", "host dispatch".
const char* phrase_of(analysis::Bound bound);
const char* phrase_of(analysis::Limiter limiter);
const char* phrase_of(analysis::HostActivity activity);
const char* phrase_of(analysis::IdleCause cause);
// In a column: "GPU".
const char* short_of(analysis::Limiter limiter);
// As an adjective, in a sentence and in a column: "communication-bound", "comm.-bound".
std::string regime_of(analysis::Limiter limiter);
const char* short_regime_of(analysis::Limiter limiter);
// In a list: "dispatch".
const char* short_of(analysis::Bound bound);

// The name of a term of an estimate in JSON: "would move".
const char* text_of(analysis::Term::What what);
enum class TermUnit : uint8_t { kCount, kTime, kBytes, kRate, kFlops, kFlopRate, kShare };
TermUnit unit_of(analysis::Term::What what);

// Why a rule is broken, if the numbers do not show it; otherwise empty.
std::string rule_note_text(const analysis::RuleResult& result);

}  // namespace epi::report
