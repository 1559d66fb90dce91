// SPDX-License-Identifier: Apache-2.0
// All tables of `query` as Parquet files, in folders that data engines discover:
// kernels/rank=3/part-0.parquet.
#pragma once

#include <filesystem>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/verbs/traces.h"

namespace epi::verbs {

// `folder` must not exist, or be empty. It appears when all files are written. Returns the number
// of bytes of text that were not UTF-8 and are replaced.
Result<int64_t> write_parquet(const std::vector<TraceInput>& inputs,
                              const std::filesystem::path& folder);

}  // namespace epi::verbs
