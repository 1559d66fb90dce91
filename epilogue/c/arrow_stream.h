// SPDX-License-Identifier: Apache-2.0
// A table as an Arrow C stream.
#pragma once

#include <memory>
#include <vector>

#include "epilogue/c/arrow.h"
#include "epilogue/c/column_builder.h"

namespace epi::c {

// Columns of the same length. Finished, and shared by the arrays that refer to them.
using Columns = std::vector<ColumnBuilder>;

// Fills `stream` with one batch of all rows. The stream, and each array taken from it, keep the
// columns alive.
void export_stream(std::shared_ptr<const Columns> columns, ArrowArrayStream* stream);

}  // namespace epi::c
