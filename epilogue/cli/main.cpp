// SPDX-License-Identifier: Apache-2.0
// The command `epilogue`: parses the command line, runs a verb, and turns every failure into one
// line and an exit code.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/terminal_call.h"
#include "epilogue/cli/trace_commands.h"
#include "epilogue/cli/verbs.h"
#include "epilogue/verbs/verbs.h"

namespace {

// Messages of libraries may span lines, and names may contain any character.
std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

int report_error(const std::string& message, int code) {
  epi::cli::print_error("epilogue: {}\n", one_line(message));
  return code;
}

// Without an allocation.
int report_out_of_memory() {
  std::fputs("epilogue: out of memory\n", stderr);
  return epi::kUsage;
}

// `epilogue FILE` is `epilogue summary FILE`.
bool is_trace(const std::string& word) {
  const auto verbs = epi::cli::verbs();
  const bool is_verb =
      epi::verbs::find_verb(word) != nullptr ||
      std::any_of(verbs.begin(), verbs.end(), [&](const auto& verb) { return verb.name == word; });
  return !word.starts_with("-") && !is_verb && epi::cli::is_trace_path(word);
}

#ifdef EPI_HAS_RUNTIME
constexpr bool kHasRuntime = true;
#define EPI_RUNTIME_TEXT(text) text
#else
constexpr bool kHasRuntime = false;
#define EPI_RUNTIME_TEXT(text) ""
#endif

constexpr const char* kExamples =
    "epilogue analyzes PyTorch profiler traces" EPI_RUNTIME_TEXT(
        " and runs the MLP block of transformers") ".\n"
    "\n"
    "  epilogue trace.json.gz                   what limits a step, and what could help\n"
    "  epilogue compare before.json after.json  what a change did, kernel by kernel\n"
    "  epilogue report trace.json -o r.html     an HTML page to share\n"
    EPI_RUNTIME_TEXT(
        "  epilogue run mlp --batch 4 --seq 128     run an MLP: operators, kernels, times\n"
        "  epilogue tour                            a two-minute tutorial\n")
    "\n"
    "All commands: epilogue --help\n";

// The library ignores values that it does not understand. A user wants to know.
void check_environment() {
  if (const char* threads = std::getenv("EPILOGUE_THREADS")) {
    const auto number = epi::parse_integer(threads);
    if (!number || *number < 1 || *number > epi::kMaxThreads) {
      throw epi::Error(fmt::format("EPILOGUE_THREADS={}: must be a number from 1 to {}", threads,
                                   epi::kMaxThreads));
    }
  }
  if (const char* isa = std::getenv("EPILOGUE_ISA")) {
    using epi::Isa;
    // The compiler's bf16 and int8 instructions are a step above the instruction sets of the loops.
    const std::string_view names[] = {name(Isa::kBaseline), name(Isa::kAvx2), name(Isa::kAvx512),
                                      "avx512_vnni",        "avx512_bf16",    "dotprod"};
    if (std::find(std::begin(names), std::end(names), isa) == std::end(names)) {
      throw epi::Error(fmt::format(
          "EPILOGUE_ISA={}: must be baseline, avx2, avx512, avx512_vnni, avx512_bf16 or dotprod",
          isa));
    }
  }
}

int parse_and_run(int argc, char** argv) {
  check_environment();
  epi::cli::Command program(
      nullptr, "epilogue",
      "Analyzes PyTorch profiler traces" EPI_RUNTIME_TEXT(
          ", and runs the MLP block of transformers") "\n"
      "Example: epilogue trace.json.gz" EPI_RUNTIME_TEXT(
          "\n         epilogue run mlp --batch 4 --seq 128"));
  epi::cli::add_trace_commands(program, kHasRuntime);
  for (const epi::cli::Verb& verb : epi::cli::verbs()) {
    verb.add(program.subcommand(verb.name, verb.help));
  }
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    epi::cli::print_out("{}", kExamples);
    return epi::kDone;
  }
  if (is_trace(words.front())) words.insert(words.begin(), "summary");
  return epi::cli::run_command(program, words, epi::cli::version_text);
}

// Runs the verb and reports its failure. Reporting itself may run out of memory.
int run_and_report(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const epi::BugError& error) {
    return report_error(error.what(), epi::kBug);
  } catch (const epi::Refused& error) {
    epi::cli::print_error("epilogue: {}\n", error.what());
    return epi::kBroken;
  } catch (const epi::ListError& error) {
    epi::cli::print_error("epilogue: {}\n", error.what());
    return epi::kUsage;
  } catch (const epi::Error& error) {
    return report_error(error.what(), epi::kUsage);
  } catch (const std::bad_alloc&) {
    return report_out_of_memory();
  } catch (const std::exception& error) {
    return report_error(error.what(), epi::kBug);
  }
}

int guarded_main(int argc, char** argv) {
  try {
    return run_and_report(argc, argv);
  } catch (const std::bad_alloc&) {
    return report_out_of_memory();
  }
}

}  // namespace

int main(int argc, char** argv) {
  epi::cli::open_closed_streams();
  const int code = guarded_main(argc, argv);
  // One line is enough if the verb has failed, too.
  if (epi::cli::finish_output() || code == epi::kUsage || code == epi::kBug) return code;
  return report_error("cannot write to standard output", epi::kUsage);
}
