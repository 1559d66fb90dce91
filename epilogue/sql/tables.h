// SPDX-License-Identifier: Apache-2.0
// The SQL tables, as rows and columns over a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "epilogue/analysis/step/step_models.h"
#include "epilogue/sql/database.h"

namespace epi::sql {

// A view lives as long as the table.
using Cell = std::variant<std::monostate, int64_t, double, std::string_view, std::string>;

struct Column {
  std::string name;
  Type type = Type::kAny;
  std::function<Cell(size_t row)> cell;
};

struct Table {
  std::string name;
  std::function<size_t()> rows;
  std::vector<Column> columns;
  // The first column, if it is ascending: rows are then found by binary search instead of a scan.
  std::function<int64_t(size_t row)> first_key;
  std::shared_ptr<const void> owner = nullptr;  // of what the columns read
};

// The models must outlive them.
std::vector<Table> tables(const analysis::StepModels& models);
// One of them, without the cost of the others. None if there is no table of this name.
std::optional<Table> table(const analysis::StepModels& models, std::string_view name);
std::vector<std::string_view> table_names();

}  // namespace epi::sql
