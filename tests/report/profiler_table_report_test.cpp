// SPDX-License-Identifier: Apache-2.0
// The text of the profiler table. Column widths, units and order are those of PyTorch.
#include "epilogue/report/tables/profiler_table_report.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/description/described_json.h"

#include <gtest/gtest.h>

namespace epi::report {
namespace {

analysis::ProfilerTable small_table() {
  analysis::ProfilerTable table;
  table.rows = {
      {.name = "fwd",
       .annotation = true,
       .calls = 1,
       .self_cpu_us = 0.5,
       .cpu_total_us = 2000.5,
       .device_total_us = 8.16,
       .spread = {2000.5, 2000.5, 2000.5}},
      {.name = "aten::addmm",
       .shapes = "[[64], [1024, 32], [32, 64], [], []]",
       .calls = 3,
       .self_cpu_us = 2000.0,
       .cpu_total_us = 2000.0,
       .self_device_us = 8.16,
       .device_total_us = 8.16,
       .spread = {600.0, 650.0, 700.0}},
      {.name = "a_kernel_whose_name_is_longer_than_PyTorchs_column_is_wide",
       .device = true,
       .calls = 3,
       .self_device_us = 8.16,
       .device_total_us = 8.16,
       .spread = {2.72, 2.72, 2.72}},
  };
  table.self_cpu_total_us = 2000.5;
  table.self_device_total_us = 8.16;
  table.has_device = true;
  table.device_name = "Kernel";
  return table;
}

TEST(TableText, MatchesPyTorchLayout) {
  EXPECT_EQ(
      text_of(TableResult{small_table(), {}}, {}),
      R"(-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  -------------  ------------  ---------------  ------------  
                                                   Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg   Self Kernel  Self Kernel %  Kernel total  Kernel time avg    # of Calls  
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  -------------  ------------  ---------------  ------------  
                                                    fwd         0.02%       0.500us       100.00%       2.001ms       2.001ms       0.000us          0.00%       8.160us          8.160us             1  
                                            aten::addmm        99.98%       2.000ms        99.98%       2.000ms     666.667us       8.160us        100.00%       8.160us          2.720us             3  
a_kernel_whose_name_is_longer_than_PyTorchs_column_i...         0.00%       0.000us         0.00%       0.000us       0.000us       8.160us        100.00%       8.160us          2.720us             3  
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------  ------------  -------------  ------------  ---------------  ------------  
Self CPU time total: 2.001ms
Self Kernel time total: 8.160us
)");
}

TEST(TableText, OmitsDeviceColumnsAndAppliesLimit) {
  analysis::ProfilerTable table = small_table();
  table.rows.pop_back();
  for (auto& row : table.rows) row.self_device_us = row.device_total_us = 0;
  table.has_device = false;
  EXPECT_EQ(
      text_of(TableResult{table, {.limit = 1}}, {}),
      R"(---------------  ------------  ------------  ------------  ------------  ------------  ------------  
           Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  
---------------  ------------  ------------  ------------  ------------  ------------  ------------  
            fwd         0.02%       0.500us       100.00%       2.001ms       2.001ms             1  
---------------  ------------  ------------  ------------  ------------  ------------  ------------  
Self CPU time total: 2.001ms
)");
}

TEST(TableText, AddsShapesAndStats) {
  const std::string text = text_of(TableResult{small_table(), {.shapes = true, .stats = true}}, {});
  EXPECT_NE(text.find("# of Calls           min        median           p90"
                      "                              Input Shapes  \n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("     3     600.000us     650.000us     700.000us"
                      "      [[64], [1024, 32], [32, 64], [], []]  \n"),
            std::string::npos)
      << text;
}

TEST(TableMarkdown, HasRowsAndTotals) {
  const std::string text = text_of(TableResult{small_table(), {.limit = 2}}, {.markdown = true});
  EXPECT_NE(text.find("| aten::addmm | 99.98% | 2.000ms |"), std::string::npos) << text;
  EXPECT_EQ(text.find("a_kernel"), std::string::npos);
  EXPECT_NE(text.find("\nSelf Kernel time total: 8.160us\n"), std::string::npos);
}

TEST(TableJson, WritesRowsInMicroseconds) {
  JsonWriter json;
  DescribedJson(json, kSchema).value(TableResult{small_table(), {.limit = 1}});
  EXPECT_EQ(json.text(),
            R"({"rows": [{"name": "fwd", "lane": "cpu", "annotation": true, "calls": 1, )"
            R"("self_cpu_us": 0.500, "cpu_total_us": 2000.500, "self_device_us": 0.000, )"
            R"("device_total_us": 8.160, "cpu_memory_bytes": null, "self_cpu_memory_bytes": null, )"
            R"("device_memory_bytes": null, "self_device_memory_bytes": null, "flops": null, )"
            R"("call_us_min": null, "call_us_median": null, "call_us_p90": null, )"
            R"("input_shapes": null}], )"
            R"("self_cpu_total_us": 2000.500, )"
            R"("self_device_total_us": 8.160})");
}

}  // namespace
}  // namespace epi::report
