// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/trace/terminal_session.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "epilogue/analysis/names/name_rules.h"
#include "epilogue/base/error.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/output_rules.h"
#include "epilogue/cli/progress.h"
#include "epilogue/cli/trace/read_traces.h"

namespace epi::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// SQLite asks whether to stop only between instructions, and a single function such as `instr` can
// run for hours. Nothing needs to be saved at that point.
void end_process(int) {
  constexpr std::string_view kMessage =
      "epilogue: SQL: ended inside a function, after --timeout or Ctrl-C\n";
  if (::write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) ::_exit(kUsage);
  ::_exit(kUsage);
}

// Ctrl-C ends the statement; pressed again, it ends the process.
class SignalGuard final : public StatementGuard {
 public:
  explicit SignalGuard(std::optional<int64_t> timeout_s) {
    struct sigaction alarm_action = {};
    alarm_action.sa_handler = end_process;
    ::sigaction(SIGALRM, &alarm_action, nullptr);
    if (timeout_s) ::alarm(static_cast<unsigned>(*timeout_s) + kGraceS);
    struct sigaction action = {};
    action.sa_handler = [](int) {
      interrupted = 1;
      ::alarm(kGraceS);
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, nullptr);
  }
  ~SignalGuard() override { ::alarm(0); }
  bool is_interrupted() const override { return interrupted != 0; }

 private:
  static constexpr unsigned kGraceS = 1;
};

}  // namespace

bool TerminalSession::is_trace(const std::string& word) const {
  std::error_code failed;
  return word.ends_with(".json") || word.ends_with(".gz") || word.ends_with(".zst") ||
         std::filesystem::exists(word, failed);
}

std::vector<TraceInput> TerminalSession::read(const std::vector<std::string>& words,
                                              const ReadingFlags& flags) {
  use_names_file(flags.names_file);
  const WaitingLine waiting(words.size() == 1 ? words.front()
                                              : fmt::format("{} traces", words.size()));
  auto traces = read_traces(words, flags);
  for (const std::string& note : traces.notes) write_note(note);
  return std::move(traces.inputs);
}

void TerminalSession::read_each(const std::vector<std::string>& words, const ReadingFlags& flags,
                                const UseTrace& use, const UseFailure& failed) {
  use_names_file(flags.names_file);
  Progress progress;
  size_t count = 0;
  const auto use_one = [&](const TraceInput& input) {
    progress.show("trace", ++count);
    use(input);
  };
  read_each_trace(words, flags, use_one, failed);
}

bool TerminalSession::is_folder(const std::string& word) const {
  std::error_code failed;
  return std::filesystem::is_directory(word, failed);
}

void TerminalSession::refuse_changed_inputs() { cli::refuse_changed_inputs(); }

std::unique_ptr<StatementGuard> TerminalSession::guard_statement(std::optional<int64_t> timeout_s) {
  return std::make_unique<SignalGuard>(timeout_s);
}

void TerminalSession::write(std::string_view text) { write_output(text); }

void TerminalSession::write_note(std::string_view line) {
  std::fflush(stdout);
  print_error("{}\n", line);
}

void TerminalSession::use_names_file(const std::string& file) {
  if (file.empty()) return;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed)) {
    throw Error(fmt::format("--names-file {}: no such file", file));
  }
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (stream.bad()) throw Error(fmt::format("--names-file {}: cannot read the file", file));
  auto rules = analysis::parse_name_rules(text.str(), file);
  throw_if_failed(rules);
  analysis::set_user_names(std::move(*rules));
}

size_t TerminalSession::width() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int64_t given = columns == nullptr ? 0 : parse_integer(columns).value_or(0);
  return given > 0 ? static_cast<size_t>(given) : 80;
}

}  // namespace epi::cli
