// SPDX-License-Identifier: Apache-2.0
// Verbs over open traces: the same code as in the command, with a session that returns the traces
// and collects the text.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/c/guard.h"
#include "epilogue/c/open_trace.h"
#include "epilogue/c/option_words.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/exit_codes.h"
#include "epilogue/cli/trace/read_traces.h"
#include "epilogue/cli/trace/trace_verbs.h"

namespace epi::c {
namespace {

using cli::ReadingFlags;
using cli::TraceInput;

// Stands for an open trace among the words of a command line. No user types it.
std::string placeholder(size_t index) { return fmt::format("\x01{}", index); }

class OpenTraceSession final : public cli::Session {
 public:
  OpenTraceSession(std::vector<std::shared_ptr<const OpenTrace>> traces, size_t width)
      : traces_(std::move(traces)), width_(width) {}

  bool is_trace(const std::string& word) const override { return find(word) != nullptr; }

  std::vector<TraceInput> read(const std::vector<std::string>& words,
                               const ReadingFlags& flags) override {
    std::vector<TraceInput> inputs;
    for (const std::string& word : words) {
      const OpenTrace* open = find(word);
      // A rule of `expect` can name another file.
      auto found = open == nullptr ? cli::read_traces({word}, flags).inputs : open->inputs;
      std::move(found.begin(), found.end(), std::back_inserter(inputs));
    }
    used_.insert(used_.end(), inputs.begin(), inputs.end());
    return inputs;
  }

  // The traces are open already.
  void read_each(const std::vector<std::string>& words, const ReadingFlags& flags,
                 const UseTrace& use, const UseFailure& /*failed*/) override {
    for (const TraceInput& input : read(words, flags)) use(input);
  }

  void use_names_file(const std::string&) override {}

  std::string title(const std::string& word) const override {
    const OpenTrace* open = find(word);
    return open == nullptr ? word : open->title;
  }
  bool is_folder(const std::string& word) const override {
    const OpenTrace* open = find(word);
    return open != nullptr && open->is_folder;
  }

  void refuse_changed_inputs() override {
    for (const TraceInput& input : used_) refuse_changed(input);
  }

  std::unique_ptr<cli::StatementGuard> guard_statement(std::optional<int64_t>) override {
    return std::make_unique<cli::StatementGuard>();
  }

  void write(std::string_view text) override { text_ += visible_text(text, LineBreaks::kKeep); }
  void write_note(std::string_view line) override {
    if (!notes_.empty()) notes_ += '\n';
    notes_ += visible_text(line, LineBreaks::kReplace);
  }
  size_t width() const override { return width_; }

  const std::string& text() const { return text_; }
  const std::string& notes() const { return notes_; }

 private:
  // Null for a word that is not an open trace.
  const OpenTrace* find(const std::string& word) const {
    for (size_t i = 0; i < traces_.size(); ++i) {
      if (word == placeholder(i)) return traces_[i].get();
    }
    return nullptr;
  }

  std::vector<std::shared_ptr<const OpenTrace>> traces_;
  size_t width_;
  std::vector<TraceInput> used_;
  std::string text_;
  std::string notes_;
};

const cli::TraceVerb& find_verb(const char* name) {
  const auto verbs = cli::trace_verbs();
  const auto found = std::find_if(verbs.begin(), verbs.end(), [&](const cli::TraceVerb& verb) {
    return name != nullptr && std::string_view(verb.name) == name;
  });
  if (found != verbs.end()) return *found;
  std::vector<std::string> known;
  for (const cli::TraceVerb& verb : verbs) known.emplace_back(verb.name);
  throw Error(fmt::format("unknown verb \"{}\": expected {}", name == nullptr ? "" : name,
                          join(known, ", ")));
}

// Removes "width" from the options, and returns its value.
size_t take_width(Options& options) {
  constexpr size_t kDefaultWidth = 80;
  const auto found = std::find_if(options.begin(), options.end(),
                                  [](const auto& option) { return option.first == "width"; });
  if (found == options.end()) return kDefaultWidth;
  const auto width = parse_integer(found->second.front());
  if (!width || *width < 1) {
    throw Error(
        fmt::format("option \"width\": expected a positive number, not {}", found->second.front()));
  }
  options.erase(found);
  return static_cast<size_t>(*width);
}

// The flag that selects a format, or null for text. Throws `Error` if the verb does not have it.
const char* format_flag(const cli::CommandInfo& command, epi_format format) {
  if (format == EPI_TEXT) return nullptr;
  const char* flag = format == EPI_JSON       ? "--json"
                     : format == EPI_MARKDOWN ? "--md"
                     : format == EPI_CSV      ? "--csv"
                                              : nullptr;
  if (flag == nullptr) throw Error("unknown format");
  for (const cli::OptionInfo& option : command.options) {
    if (option.names.front() == flag) return flag;
  }
  throw Error(fmt::format("[{}] the format {} is not available", command.word(), flag + 2));
}

void check_count(const char* verb, size_t count) {
  const std::string_view name = verb;
  const size_t min_count = name == "explain" ? 0 : name == "compare" ? 2 : 1;
  const size_t max_count = name == "compare" || name == "report" || name == "advise" ? 2 : SIZE_MAX;
  if (count >= min_count && count <= max_count) return;
  throw Error(fmt::format("[{}] expected {}, got {}", name,
                          min_count == 2      ? "two traces"
                          : count < min_count ? "a trace"
                                              : "at most two traces",
                          count));
}

epi_status run_verb(epi_trace* const* traces, size_t count, const char* name, const char* options,
                    epi_format format, char** text, char** message) {
  const cli::TraceVerb& verb = find_verb(name);
  check_count(verb.name, count);
  if (traces == nullptr && count > 0) throw Error("the list of traces is null");
  std::vector<std::shared_ptr<const OpenTrace>> open;
  std::vector<std::string> placeholders;
  for (size_t i = 0; i < count; ++i) {
    open.push_back(open_trace_of(traces[i]));
    placeholders.push_back(placeholder(i));
  }
  Options given = parse_options(options);
  OpenTraceSession session(std::move(open), take_width(given));
  cli::CommandLine command_line("epilogue", "", [] { return std::string(); });
  cli::Command command = command_line.root().subcommand(verb.name, verb.help);
  verb.add(command, session);
  const cli::CommandInfo info = command.program().subcommands.front();
  std::vector<std::string> words = option_words(info, given, placeholders);
  if (const char* flag = format_flag(info, format)) words.insert(words.begin() + 1, flag);
  const int code = command_line.run(std::move(words));
  *text = new_text(session.text());
  if (!session.notes().empty()) set_message(message, session.notes());
  return code == cli::kDone ? EPI_OK : EPI_CHECK_FAILED;
}

}  // namespace
}  // namespace epi::c

epi_status epi_run(epi_trace* const* traces, size_t count, const char* verb, const char* options,
                   epi_format format, char** text, char** message) {
  if (text != nullptr) *text = nullptr;
  return epi::c::guarded(message, [&] {
    if (text == nullptr) throw epi::Error("the result pointer is null");
    return epi::c::run_verb(traces, count, verb, options, format, text, message);
  });
}
