// SPDX-License-Identifier: Apache-2.0
// Verbs over open traces: the same code as in the command, with a call that returns the traces and
// collects the text.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/c/call_options.h"
#include "epilogue/c/guard.h"
#include "epilogue/c/open_trace.h"
#include "epilogue/verbs/read_traces.h"
#include "epilogue/verbs/verbs.h"

namespace epi::c {
namespace {

using verbs::TraceInput;
using OpenList = std::vector<std::shared_ptr<const verbs::OpenTraces>>;

class LibraryCall final : public verbs::Call {
 public:
  LibraryCall(verbs::CallOptions options, const OpenList& traces)
      : Call(options, names_for(options, traces)) {
    for (const auto& open : traces) add_used(open->inputs);
  }

  bool is_trace(const std::string& /*word*/) const override { return false; }
  void refuse_changed_inputs() override {
    for (const TraceInput& input : used_) refuse_changed(input);
  }
  std::unique_ptr<verbs::StatementGuard> guard_statement(std::optional<int64_t>) override {
    return std::make_unique<verbs::StatementGuard>();
  }
  void write(std::string_view text) override { text_ += visible_text(text, LineBreaks::kKeep); }
  void write_note(std::string_view line) override {
    if (!notes_.empty()) notes_ += '\n';
    notes_ += visible_text(line, LineBreaks::kReplace);
  }

  const std::string& text() const { return text_; }
  const std::string& notes() const { return notes_; }

 protected:
  // A rule of `expect` can name another file.
  std::vector<TraceInput> read_files(const std::vector<std::string>& paths) override {
    auto inputs = verbs::read_traces(paths, options().reading).inputs;
    add_used(inputs);
    return inputs;
  }
  void read_each_file(const std::vector<std::string>& paths, const UseTrace& use,
                      const UseFailure& /*failed*/) override {
    for (const TraceInput& input : read_files(paths)) use(input);
  }

 private:
  // Those of the call, or else those that the traces were opened with.
  static std::shared_ptr<const analysis::NameRules> names_for(const verbs::CallOptions& options,
                                                              const OpenList& traces) {
    if (!options.reading.names_file.empty()) {
      return verbs::read_name_rules(options.reading.names_file);
    }
    for (const auto& open : traces) {
      for (const TraceInput& input : open->inputs) {
        if (input.loaded->names()) return input.loaded->names();
      }
    }
    return nullptr;
  }
  void add_used(const std::vector<TraceInput>& inputs) {
    used_.insert(used_.end(), inputs.begin(), inputs.end());
  }

  std::vector<TraceInput> used_;
  std::string text_;
  std::string notes_;
};

const verbs::Verb& find_verb(const char* name) {
  const verbs::Verb* verb = name == nullptr ? nullptr : verbs::find_verb(name);
  if (verb != nullptr) return *verb;
  std::vector<std::string> known;
  for (const verbs::Verb* one : verbs::trace_verbs()) known.emplace_back(one->name);
  throw Error(fmt::format("unknown verb \"{}\": expected {}", name == nullptr ? "" : name,
                          join(known, ", ")));
}

epi_status run_verb(epi_trace* const* traces, size_t count, const char* name, const char* options,
                    epi_format format, char** text, char** message) {
  const verbs::Verb& verb = find_verb(name);
  if (traces == nullptr && count > 0) throw Error("the list of traces is null");
  OpenList open;
  for (size_t i = 0; i < count; ++i) open.push_back(open_traces_of(traces[i]));
  const auto given = parse_options(options);
  verbs::Options targets;
  const verbs::Run run = verb.add(targets);
  set_traces(verb, targets, open);
  set_options(verb, targets, given);
  LibraryCall call(call_options(verb, given, format), open);
  const int code = run(call);
  *text = new_text(call.text());
  if (!call.notes().empty()) set_message(message, call.notes());
  return code == kDone ? EPI_OK : EPI_CHECK_FAILED;
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
