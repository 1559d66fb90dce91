// SPDX-License-Identifier: Apache-2.0
// The traces of a call: what the user names, and what is read.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "epilogue/analysis/names/name_rules.h"
#include "epilogue/analysis/step/step_models.h"
#include "epilogue/trace/trace.h"

namespace epi::verbs {

// A trace that several calls and threads may use. Its models are built when they are first needed.
class LoadedTrace {
 public:
  LoadedTrace(std::shared_ptr<const trace::Trace> trace,
              std::shared_ptr<const analysis::NameRules> names)
      : trace_(std::move(trace)), names_(std::move(names)) {}

  const trace::Trace& trace() const { return *trace_; }
  const std::shared_ptr<const trace::Trace>& shared_trace() const { return trace_; }
  // The user's names of kernels. Null without.
  const std::shared_ptr<const analysis::NameRules>& names() const { return names_; }
  const analysis::TraceIndex& index() const { return models().index(); }
  const analysis::StepModels& models() const {
    std::call_once(once_, [this] {
      const analysis::NamesInUse in_use(names_);
      index_.emplace(*trace_);
      models_.emplace(*index_);
      is_indexed_ = true;
    });
    return *models_;
  }
  // The limits that analyses of this trace have reached so far.
  std::vector<std::string> reached_limits() const {
    return is_indexed_ ? index_->limits.lines() : std::vector<std::string>();
  }

 private:
  std::shared_ptr<const trace::Trace> trace_;
  std::shared_ptr<const analysis::NameRules> names_;
  mutable std::once_flag once_;
  mutable std::optional<analysis::TraceIndex> index_;
  mutable std::atomic<bool> is_indexed_ = false;
  mutable std::optional<analysis::StepModels> models_;
};

struct TraceInput {
  std::string file;
  int64_t rank = 0;  // 0 if the file has no rank
  bool has_rank = false;
  std::shared_ptr<const LoadedTrace> loaded;

  const trace::Trace& trace() const { return loaded->trace(); }
  const analysis::TraceIndex& index() const { return loaded->index(); }
  const analysis::StepModels& models() const { return loaded->models(); }
};

// Traces that stay open between calls. Immutable, so that threads share them without locks.
struct OpenTraces {
  std::string title;  // the path that was opened, or how many
  bool is_folder = false;
  std::vector<TraceInput> inputs;
  std::vector<std::string> notes;
};

// What a user gives as an argument: the path of a file or of a folder of ranks, or open traces.
struct TraceSource {
  std::string path;
  std::shared_ptr<const OpenTraces> open;

  const std::string& title() const { return open ? open->title : path; }
  bool is_folder() const;
};
// The paths of those that are not open.
std::vector<std::string> paths_of(const std::vector<TraceSource>& sources);

// How traces are read.
struct ReadingOptions {
  std::string step_pattern;  // regular expression for steps, instead of the profilers' own marks
  std::string names_file;    // rules for kernel names that the decoder does not know
  std::string max_unpacked;  // limit for decompressed traces: "500M"
};

}  // namespace epi::verbs
