// SPDX-License-Identifier: Apache-2.0
// The command `epilogue`: parses, runs one verb, and turns every failure into one line and an exit
// code: 2 for usage, input and the world outside, 3 for our own bugs.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/cli/verbs.h"

namespace {

constexpr int kUsage = 2;
constexpr int kBug = 3;

// CLI11 spreads some messages over lines, and names may hold any character; ours have one line.
std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

int report_error(const std::string& message, int code) {
  fmt::print(stderr, "epilogue: {}\n", one_line(message));
  return code;
}

// CLI11 asks for a subcommand before it looks at the word that should have been one.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const auto unknown = app.remaining(true);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
      !unknown.empty()) {
    return fmt::format("\"{}\" is not known here; --help lists what is", unknown.front());
  }
  return error.what();
}

// `epilogue FILE` is `epilogue summary FILE`.
bool names_a_trace(const CLI::App& app, const std::string& word) {
  const auto is_verb = [&](const CLI::App* verb) { return verb->get_name() == word; };
  if (word.starts_with("-") || !app.get_subcommands(is_verb).empty()) return false;
  std::error_code ignored;
  return word.ends_with(".json") || word.ends_with(".gz") || word.ends_with(".zst") ||
         std::filesystem::exists(word, ignored);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app(
      "Runs the feed-forward block of transformers, and explains what it did.\n"
      "Example: epilogue run mlp --batch 4 --seq 128",
      "epilogue");
  app.require_subcommand(1);
  app.set_version_flag("--version", epi::cli::version_text);
  epi::cli::Action action;
  epi::cli::add_summary(app, action);
  epi::cli::add_table(app, action);
  epi::cli::add_steps(app, action);
  epi::cli::add_tree(app, action);
  epi::cli::add_explain(app, action);
  epi::cli::add_compare(app, action);
  epi::cli::add_expect(app, action);
  epi::cli::add_breakdown(app, action);
  epi::cli::add_advise(app, action);
  epi::cli::add_query(app, action);
  epi::cli::add_report(app, action);
  epi::cli::add_open(app, action);
#ifdef EPI_HAS_RUNTIME
  epi::cli::add_run(app, action);
  epi::cli::add_bench(app, action);
  epi::cli::add_cache(app, action);
  epi::cli::add_hub(app, action);
  epi::cli::add_tour(app, action);
#endif
  // Verbs are short: their descriptions fit beside them into 80 columns.
  constexpr size_t kVerbColumn = 11;
  const auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(kVerbColumn);
  app.formatter(formatter);
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && names_a_trace(app, words.front())) words.insert(words.begin(), "summary");
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return report_error(usage_message(app, error), kUsage);
  }
  return action();
}

int guarded_main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const epi::BugError& error) {
    return report_error(error.what(), kBug);
  } catch (const epi::cli::Refused& error) {
    fmt::print(stderr, "epilogue: {}\n", error.what());
    return epi::cli::kBroken;
  } catch (const epi::cli::ListError& error) {
    fmt::print(stderr, "epilogue: {}\n", error.what());
    return kUsage;
  } catch (const epi::Error& error) {
    return report_error(error.what(), kUsage);
  } catch (const std::bad_alloc&) {
    return report_error("out of memory", kUsage);
  } catch (const std::exception& error) {
    return report_error(error.what(), kBug);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int code = guarded_main(argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return report_error("cannot write to standard output", kUsage);
  }
  return code;
}
