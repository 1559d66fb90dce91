// SPDX-License-Identifier: Apache-2.0
// The data of the page's sections: computed once, then written as JSON, possibly several times with
// fewer rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/compare/compare.h"
#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/analysis/time/breakdown.h"
#include "epilogue/analysis/time/summary.h"
#include "epilogue/report/page_trace.h"

namespace epi::report {

struct PageData {
  struct File {
    std::string file;
    const analysis::TraceIndex& index;
    analysis::Summary summary;
    analysis::ProfilerTable table;
    std::vector<analysis::DeviceBreakdown> devices;
    analysis::AdviceReport advised;
  };
  std::vector<File> files;
  std::optional<analysis::Comparison> comparison;  // if there are two files
};

PageData page_data(const std::vector<PageTrace>& traces);
// `begins_ns` has the start of each file's timeline. Tables have at most `rows` rows.
std::string data_json(const PageData& data, const std::vector<int64_t>& begins_ns, size_t rows);

}  // namespace epi::report
