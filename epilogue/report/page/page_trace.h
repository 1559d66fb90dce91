// SPDX-License-Identifier: Apache-2.0
// A trace that the page shows.
#pragma once

#include <string>

#include "epilogue/analysis/step/step_models.h"

namespace epi::report {

struct PageTrace {
  std::string file;
  const analysis::StepModels& models;
};

}  // namespace epi::report
