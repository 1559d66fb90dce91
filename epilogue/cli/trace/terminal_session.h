// SPDX-License-Identifier: Apache-2.0
// The session of the command: reads files and prints to the terminal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "epilogue/cli/trace/session.h"

namespace epi::cli {

class TerminalSession final : public Session {
 public:
  explicit TerminalSession(bool can_run = false) : can_run_(can_run) {}

  bool is_trace(const std::string& word) const override;
  std::vector<TraceInput> read(const std::vector<std::string>& words,
                               const ReadingFlags& flags) override;
  void read_each(const std::vector<std::string>& words, const ReadingFlags& flags,
                 const UseTrace& use, const UseFailure& failed) override;
  void use_names_file(const std::string& file) override;
  std::string title(const std::string& word) const override { return word; }
  bool is_folder(const std::string& word) const override;
  void refuse_changed_inputs() override;
  std::unique_ptr<StatementGuard> guard_statement(std::optional<int64_t> timeout_s) override;
  void write(std::string_view text) override;
  void write_note(std::string_view line) override;
  bool can_run() const override { return can_run_; }
  // The width of the terminal, or COLUMNS, or 80.
  size_t width() const override;

 private:
  bool can_run_;
};

}  // namespace epi::cli
