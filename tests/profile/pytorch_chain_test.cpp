// SPDX-License-Identifier: Apache-2.0
// Compares our traces of eager blocks with PyTorch's traces of the same blocks. Operators must have
// the same names, order, input shapes, strides and scalars, and launch the same number of kernels.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <map>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/trace/event_args.h"
#include "tests/profile/events.h"

namespace epi::profile {
namespace {

using trace::Category;

struct ChainOp {
  std::string name;
  std::string dims;
  std::string strides;
  std::string scalars;
  int kernels = 0;

  bool operator==(const ChainOp&) const = default;
};

void PrintTo(const ChainOp& op, std::ostream* out) {
  *out << op.name << " " << op.dims << " " << op.strides << " " << op.scalars << " kernels "
       << op.kernels;
}

std::string without_spaces(std::string_view text) {
  std::string out(text);
  std::erase(out, ' ');
  return out;
}

// The operators of a PyTorch trace, in file order.
std::vector<ChainOp> pytorch_chain(const char* file) {
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.load(std::string(EPI_TEST_DATA) + "/traces/" + file);
  std::vector<ChainOp> chain;
  std::map<int64_t, size_t> positions;  // by external id
  for (const simdjson::dom::element event : root["traceEvents"]) {
    std::string_view category;
    if (event["cat"].get(category) != simdjson::SUCCESS) continue;
    if (category == "cpu_op") {
      positions[int64_t(event["args"]["External id"])] = chain.size();
      chain.push_back({std::string(std::string_view(event["name"])),
                       simdjson::minify(event["args"]["Input Dims"]),
                       simdjson::minify(event["args"]["Input Strides"]),
                       without_spaces(simdjson::minify(event["args"]["Concrete Inputs"]))});
    } else if (category == "kernel") {
      ++chain[positions.at(int64_t(event["args"]["External id"]))].kernels;
    }
  }
  return chain;
}

std::vector<ChainOp> our_chain(const trace::Trace& trace) {
  std::vector<ChainOp> chain;
  std::map<int64_t, size_t> positions;
  for (const trace::EventId id : events_of(trace, Category::kCpuOp)) {
    positions[trace.external_id[id]] = chain.size();
    const auto args = trace.args_of(id);
    chain.push_back({std::string(trace.name_of(id)),
                     without_spaces(trace::find_value(args, "Input Dims").value()),
                     without_spaces(trace::find_value(args, "Input Strides").value()),
                     without_spaces(trace::find_value(args, "Concrete Inputs").value())});
  }
  for (const trace::EventId id : events_of(trace, Category::kKernel)) {
    ++chain[positions.at(trace.external_id[id])].kernels;
  }
  return chain;
}

trace::Trace three_steps(const std::function<void()>& forward) {
  Profiler profiler({.record_shapes = true, .schedule = Schedule{1, 1, 3}});
  for (int i = 0; i < 5; ++i) {
    forward();
    profiler.step();
  }
  return profiler.take_trace();
}

void expect_views_take_no_device_time(const trace::Trace& trace) {
  const auto table = analysis::profiler_table(trace);
  int views = 0;
  for (const auto& row : table.rows) {
    for (const char* view : {"aten::t", "aten::transpose", "aten::as_strided", "aten::view",
                             "aten::reshape", "aten::_unsafe_view"}) {
      if (row.name != view) continue;
      ++views;
      EXPECT_EQ(row.device_total_us, 0) << row.name;
    }
  }
  EXPECT_GE(views, 3);
}

TEST(PyTorchChain, MatchesForLinear) {
  nn::Linear linear(32, 64);
  nn::init_normal(linear, 1);
  const Tensor x = zeros({1024, 32});
  const trace::Trace trace = three_steps([&] {
    const RecordFunction range("linear_fwd");
    linear.forward(x);
  });
  EXPECT_EQ(our_chain(trace), pytorch_chain("linear_eager.json"));
  EXPECT_EQ(events_of(trace, Category::kKernel).size(), 3);  // one per forward
  expect_views_take_no_device_time(trace);
}

TEST(PyTorchChain, MatchesForMlp) {
  nn::GluMlp mlp(768, 3072);
  nn::init_normal(mlp, 1);
  const Tensor x = zeros({64, 128, 768});
  const trace::Trace trace = three_steps([&] {
    const RecordFunction range("mlp_fwd");
    mlp.forward(x);
  });
  EXPECT_EQ(our_chain(trace), pytorch_chain("mlp_eager.json"));
  EXPECT_EQ(events_of(trace, Category::kKernel).size(), 15);  // five per forward
  expect_views_take_no_device_time(trace);
}

}  // namespace
}  // namespace epi::profile
