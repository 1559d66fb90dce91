// SPDX-License-Identifier: Apache-2.0
// A call of the command: reads files and prints to the terminal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "epilogue/verbs/call.h"

namespace epi::cli {

// True if the word is the path of a trace rather than a verb or a kernel name.
bool is_trace_path(const std::string& word);
// The width of the terminal, or COLUMNS, or 80.
size_t terminal_width();

class TerminalCall final : public verbs::Call {
 public:
  explicit TerminalCall(verbs::CallOptions options, bool can_run = false);

  bool is_trace(const std::string& word) const override { return is_trace_path(word); }
  void refuse_changed_inputs() override;
  std::unique_ptr<verbs::StatementGuard> guard_statement(std::optional<int64_t> timeout_s) override;
  void write(std::string_view text) override;
  void write_note(std::string_view line) override;
  bool can_run() const override { return can_run_; }

 protected:
  std::vector<verbs::TraceInput> read_files(const std::vector<std::string>& paths) override;
  void read_each_file(const std::vector<std::string>& paths, const UseTrace& use,
                      const UseFailure& failed) override;

 private:
  bool can_run_;
};

}  // namespace epi::cli
