// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/terminal_call.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "epilogue/base/exit_codes.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/progress.h"
#include "epilogue/verbs/output_rules.h"
#include "epilogue/verbs/read_traces.h"

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
class SignalGuard final : public verbs::StatementGuard {
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

bool is_trace_path(const std::string& word) {
  std::error_code failed;
  return word.ends_with(".json") || word.ends_with(".gz") || word.ends_with(".zst") ||
         std::filesystem::exists(word, failed);
}

size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int64_t given = columns == nullptr ? 0 : parse_integer(columns).value_or(0);
  return given > 0 ? static_cast<size_t>(given) : 80;
}

TerminalCall::TerminalCall(verbs::CallOptions options, bool can_run)
    : Call(options, verbs::read_name_rules(options.reading.names_file)), can_run_(can_run) {}

std::vector<verbs::TraceInput> TerminalCall::read_files(const std::vector<std::string>& paths) {
  const WaitingLine waiting(paths.size() == 1 ? paths.front()
                                              : fmt::format("{} traces", paths.size()));
  auto traces = verbs::read_traces(paths, options().reading);
  for (const std::string& note : traces.notes) write_note(note);
  return std::move(traces.inputs);
}

void TerminalCall::read_each_file(const std::vector<std::string>& paths, const UseTrace& use,
                                  const UseFailure& failed) {
  Progress progress;
  size_t count = 0;
  const auto use_one = [&](const verbs::TraceInput& input) {
    progress.show("trace", ++count);
    use(input);
  };
  verbs::read_each_trace(paths, options().reading, use_one, failed);
}

void TerminalCall::refuse_changed_inputs() { verbs::refuse_changed_inputs(); }

std::unique_ptr<verbs::StatementGuard> TerminalCall::guard_statement(
    std::optional<int64_t> timeout_s) {
  return std::make_unique<SignalGuard>(timeout_s);
}

void TerminalCall::write(std::string_view text) { write_output(text); }

void TerminalCall::write_note(std::string_view line) {
  std::fflush(stdout);
  print_error("{}\n", line);
}

}  // namespace epi::cli
