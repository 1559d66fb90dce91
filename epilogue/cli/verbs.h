// SPDX-License-Identifier: Apache-2.0
// The subcommands. Each file adds its own flags and help to the parser, and sets `run` when it is
// the one that was asked for. A verb returns its exit code: 0 done, 1 a broken expectation.
#pragma once

#include <functional>
#include <string>

#include "epilogue/base/error.h"

namespace CLI {
class App;
}

namespace epi::cli {

using Action = std::function<int()>;

// The exit code of a broken expectation, and of what is not trusted.
inline constexpr int kBroken = 1;
// An error with a list of reasons, each on a line of its own.
class ListError : public Error {
 public:
  using Error::Error;
};
class Refused : public ListError {
 public:
  using ListError::ListError;
};

void add_advise(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_breakdown(CLI::App& app, Action& action);
void add_cache(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_expect(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_hub(CLI::App& app, Action& action);
void add_open(CLI::App& app, Action& action);
void add_query(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_steps(CLI::App& app, Action& action);
void add_summary(CLI::App& app, Action& action);
void add_table(CLI::App& app, Action& action);
void add_tour(CLI::App& app, Action& action);
void add_tree(CLI::App& app, Action& action);

// What `--version` prints.
std::string version_text();

}  // namespace epi::cli
