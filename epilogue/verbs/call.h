// SPDX-License-Identifier: Apache-2.0
// One call of a verb: how it reads traces, in which format, and where its text goes. The command
// reads files and prints to the terminal; the C interface has open traces and collects the text.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/report/description/described_json.h"
#include "epilogue/report/text/style.h"
#include "epilogue/verbs/traces.h"

namespace epi::verbs {

enum class Format : uint8_t { kText, kJson, kMarkdown, kCsv };

// What every verb can be asked for.
struct CallOptions {
  Format format = Format::kText;
  int schema = report::kSchema;  // of JSON
  size_t width = 80;             // columns of text
  ReadingOptions reading;
};

// "1" or "2". None for any other text.
std::optional<int> parse_schema(const std::string& text);

// While it exists, an SQL statement can be interrupted.
class StatementGuard {
 public:
  StatementGuard() = default;
  StatementGuard(const StatementGuard&) = delete;
  StatementGuard& operator=(const StatementGuard&) = delete;
  virtual ~StatementGuard() = default;
  virtual bool is_interrupted() const { return false; }
};

class Call {
 public:
  // `names`: what kernels are called in this call, besides what the decoder knows. May be null.
  Call(CallOptions options, std::shared_ptr<const analysis::NameRules> names);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  const CallOptions& options() const { return options_; }
  Format format() const { return options_.format; }
  report::Style style() const { return {format() == Format::kMarkdown, options_.width}; }

  // True if a word that may also be a kernel name is the path of a trace.
  virtual bool is_trace(const std::string& word) const = 0;
  // The traces of the sources: of a file, or of the files of a folder. Throws `Error` for the first
  // that cannot be read.
  std::vector<TraceInput> read(const std::vector<TraceSource>& sources);
  // The same, one after another: `use` is called with each trace, and nothing else keeps it.
  // `failed` is called with the files that cannot be read, and what is wrong with them.
  using UseTrace = std::function<void(const TraceInput& input)>;
  using UseFailure = std::function<void(const std::string& file, const std::string& message)>;
  void read_each(const std::vector<TraceSource>& sources, const UseTrace& use,
                 const UseFailure& failed);
  // Throws `Error` if a file of this call has changed since it was read.
  virtual void refuse_changed_inputs() = 0;

  virtual std::unique_ptr<StatementGuard> guard_statement(std::optional<int64_t> timeout_s) = 0;

  virtual void write(std::string_view text) = 0;
  // Something to know about the result that is not a part of it.
  virtual void write_note(std::string_view line) = 0;
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

 protected:
  virtual std::vector<TraceInput> read_files(const std::vector<std::string>& paths) = 0;
  virtual void read_each_file(const std::vector<std::string>& paths, const UseTrace& use,
                              const UseFailure& failed) = 0;

 private:
  CallOptions options_;
  std::shared_ptr<const analysis::NameRules> names_;
  analysis::NamesInUse in_use_;
};

}  // namespace epi::verbs
