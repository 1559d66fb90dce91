// SPDX-License-Identifier: Apache-2.0
// Compares the table of every trace in tests/data with the text that PyTorch printed, digit by
// digit.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/tables/profiler_table_report.h"
#include "epilogue/trace/input_text.h"
#include "epilogue/trace/reader.h"

namespace epi::report {
namespace {

std::string data(const std::string& name) { return std::string(EPI_TEST_DATA) + "/" + name; }

std::string text_of(const std::string& name) {
  trace::Defects defects;
  const auto input = trace::open_input(data(name));
  if (!input) throw std::runtime_error(input.error().message);
  return std::string(input->whole(defects).value());
}

std::string our_table(const std::string& file, const TableStyle& style) {
  const auto trace = trace::read(data(file));
  if (!trace) throw std::runtime_error(trace.error().message);
  auto table = analysis::profiler_table(*trace, {.by_shape = style.shapes});
  analysis::sort_rows(table, "cuda_time_total");
  return text_of(TableResult{std::move(table), style}, {});
}

TEST(PyTorchTables, MatchForTutorialWorkloads) {
  for (const char* name : {"linear_eager", "linear_compile", "matmul_add_64", "matmul_add_4096",
                           "mlp_eager", "mlp_compile", "mlp_cudagraph", "mlp_liger"}) {
    EXPECT_EQ(our_table(fmt::format("traces/{}.json", name), {.limit = 40}),
              text_of(fmt::format("traces/{}.txt", name)))
        << name;
  }
  EXPECT_EQ(our_table("traces/llama_train.json.gz", {.limit = 40}),
            text_of("traces/llama_train.txt"));
}

TEST(PyTorchTables, MatchForOtherTraces) {
  for (const char* name :
       {"graph", "misc", "streams", "threads", "train", "train_stack", "train_compiled",
        "train_no_schedule", "train_cpu", "train_gpu_only", "train_memory", "train_cpu_memory",
        "train_flops_modules", "steps_around", "steps_loader", "steps_epochs"}) {
    EXPECT_EQ(our_table(fmt::format("pytorch/{}.json.gz", name), {}),
              text_of(fmt::format("pytorch/{}.txt.gz", name)))
        << name;
  }
}

TEST(PyTorchTables, MatchWhenGroupedByShape) {
  for (const char* name : {"misc", "train_compiled", "train_cpu"}) {
    EXPECT_EQ(our_table(fmt::format("pytorch/{}.json.gz", name), {.shapes = true}),
              text_of(fmt::format("pytorch/{}.shapes.txt.gz", name)))
        << name;
  }
}

}  // namespace
}  // namespace epi::report
