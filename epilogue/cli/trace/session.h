// SPDX-License-Identifier: Apache-2.0
// Where the traces of a verb come from, and where its text goes: files and the terminal for the
// command, open traces and a string for the C interface.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/trace/trace.h"

namespace epi::cli {

// A trace that several verbs and threads may use. The index is built when it is first needed.
class LoadedTrace {
 public:
  explicit LoadedTrace(trace::Trace&& trace) : trace_(std::move(trace)) {}

  const trace::Trace& trace() const { return trace_; }
  const analysis::TraceIndex& index() const {
    std::call_once(once_, [this] { index_.emplace(trace_); });
    return *index_;
  }

 private:
  trace::Trace trace_;
  mutable std::once_flag once_;
  mutable std::optional<analysis::TraceIndex> index_;
};

struct TraceInput {
  std::string file;
  int64_t rank = 0;  // 0 if the file has no rank
  bool has_rank = false;
  std::shared_ptr<const LoadedTrace> loaded;

  const trace::Trace& trace() const { return loaded->trace(); }
  const analysis::TraceIndex& index() const { return loaded->index(); }
};

// How traces are read.
struct ReadingFlags {
  std::string step_pattern;  // regular expression for steps, instead of the profilers' own marks
  std::string names_file;    // rules for kernel names that the decoder does not know
  std::string max_unpacked;  // limit for decompressed traces: "500M"
};

// While it exists, an SQL statement can be interrupted.
class StatementGuard {
 public:
  StatementGuard() = default;
  StatementGuard(const StatementGuard&) = delete;
  StatementGuard& operator=(const StatementGuard&) = delete;
  virtual ~StatementGuard() = default;
  virtual bool is_interrupted() const { return false; }
};

class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // True if an argument that may also be a name is a trace.
  virtual bool is_trace(const std::string& word) const = 0;
  // The traces of an argument: a file, or the files of a folder. Throws `Error` for the first that
  // cannot be read.
  virtual std::vector<TraceInput> read(const std::vector<std::string>& words,
                                       const ReadingFlags& flags) = 0;
  // The same, one after another: `use` is called with each trace, and nothing else keeps it.
  // `failed` is called with the files that cannot be read, and what is wrong with them.
  using UseTrace = std::function<void(const TraceInput& input)>;
  using UseFailure = std::function<void(const std::string& file, const std::string& message)>;
  virtual void read_each(const std::vector<std::string>& words, const ReadingFlags& flags,
                         const UseTrace& use, const UseFailure& failed) = 0;
  // Reads rules for kernel names, if the file has a name. Throws `Error` with the line of a
  // mistake.
  virtual void use_names_file(const std::string& file) = 0;
  // What the user calls the argument.
  virtual std::string title(const std::string& word) const = 0;
  virtual bool is_folder(const std::string& word) const = 0;
  // Throws `Error` if a file of this session has changed since it was read.
  virtual void refuse_changed_inputs() = 0;

  virtual std::unique_ptr<StatementGuard> guard_statement(std::optional<int64_t> timeout_s) = 0;

  virtual void write(std::string_view text) = 0;
  // Something to know about the result that is not a part of it.
  virtual void write_note(std::string_view line) = 0;
  // The number of columns of a text.
  virtual size_t width() const = 0;
  // Whether a suggested `epilogue run` would work here: the reader alone has no runtime.
  virtual bool can_run() const { return false; }

  template <typename... Ts>
  void print(fmt::format_string<Ts...> format, Ts&&... values) {
    write(fmt::format(format, std::forward<Ts>(values)...));
  }
  template <typename... Ts>
  void note(fmt::format_string<Ts...> format, Ts&&... values) {
    write_note(fmt::format(format, std::forward<Ts>(values)...));
  }
};

}  // namespace epi::cli
