// SPDX-License-Identifier: Apache-2.0
// `epilogue table` of a large trace against a bare simdjson walk over the same file on one thread.
// Both run as separate processes, so that startup, file reading and peak memory count.
#include <fcntl.h>
#include <simdjson.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/big_trace.h"
#include "bench/suite.h"
#include "epilogue/base/clock.h"
#include "epilogue/base/error.h"

extern char** environ;  // NOLINT: declared by POSIX

namespace epi::bench {
namespace {

constexpr int64_t kMegabyte = 1'000'000;
constexpr double kTableLimit = 1.10;
constexpr double kVerbLimit = 1.2;
constexpr double kGzipLimit = 1.25;
constexpr double kReportLimit = 3;
constexpr double kMemoryLimit = 0.4;
constexpr double kScalingLimit = 1.25;
constexpr double kPythonLimit = 1.15;
constexpr double kPythonStartS = 0.2;  // allowed for starting Python and importing numpy
constexpr double kJsonLoadLimit = 10;
constexpr int kTurns = 7;

// Files that are created on first use and removed at exit.
class TraceFiles {
 public:
  TraceFiles()
      : folder_(std::filesystem::temp_directory_path() /
                ("epilogue_bench_" + std::to_string(::getpid()))) {}
  TraceFiles(const TraceFiles&) = delete;
  TraceFiles& operator=(const TraceFiles&) = delete;
  ~TraceFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string plain(int64_t megabytes) {
    const auto path = folder_ / (std::to_string(megabytes) + ".json");
    if (!std::filesystem::exists(path)) {
      std::filesystem::create_directories(folder_);
      events_[megabytes] = write_big_trace(path, megabytes * kMegabyte);
    }
    return path;
  }
  std::string gzipped(int64_t megabytes) {
    const std::string path = plain(megabytes) + ".gz";
    if (!std::filesystem::exists(path)) {
      const std::string command = "gzip -1 -k '" + plain(megabytes) + "'";
      if (std::system(command.c_str()) != 0) throw Error("gzip failed");  // NOLINT: a path of ours
    }
    return path;
  }
  int64_t events(int64_t megabytes) {
    plain(megabytes);
    return events_[megabytes];
  }

 private:
  std::filesystem::path folder_;
  std::map<int64_t, int64_t> events_;
};

// Starts a program and discards its output.
pid_t start_program(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw Error("cannot run " + words[0]);
  return child;
}

// Runs a program and returns its duration in nanoseconds.
double run_program(const std::vector<std::string>& words) {
  const int64_t start_ns = now_ns();
  int status = 0;
  ::waitpid(start_program(words), &status, 0);
  if (status != 0) throw Error(words[0] + " failed");
  return static_cast<double>(now_ns() - start_ns);
}

// A program's peak resident memory, sampled every two milliseconds. getrusage is not usable,
// because it also includes the process that started the program.
double peak_bytes(const std::vector<std::string>& words) {
  const pid_t child = start_program(words);
  double peak = 0;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    std::ifstream file("/proc/" + std::to_string(child) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("VmHWM:")) peak = std::max(peak, std::stod(line.substr(6)) * 1024);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (status != 0) throw Error(words[0] + " failed");
  return peak;
}

std::string tool(const char* name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

std::vector<std::string> table_of(const std::string& file) {
  return {tool("epilogue"), "table", file};
}

// A Python with numpy: $PYTHON, or Debian's, whose numpy `make setup-tests` installs.
std::string python() {
  const char* chosen = std::getenv("PYTHON");
  return chosen == nullptr ? "/usr/bin/python3" : chosen;
}

// Reads a trace with the Python package, and takes the columns of its kernels.
double run_python(const std::string& file) {
  const auto build = std::filesystem::path(tool("")).parent_path().parent_path();
  const std::string library = build / "lib/libepilogue_trace.so";
  ::setenv("EPILOGUE_LIBRARY", library.c_str(), 1);
  ::setenv("PYTHONPATH", EPI_PYTHON_FOLDER, 1);
  const char* code = "import sys, epilogue; epilogue.read(sys.argv[1]).kernels.to_numpy()";
  return run_program({python(), "-c", code, file});
}

// The median over turns in which both sides run.
template <typename Turn>
double median_of_turns(const Turn& turn) {
  std::vector<double> values(kTurns);
  std::generate(values.begin(), values.end(), turn);
  std::sort(values.begin(), values.end());
  return values[kTurns / 2];
}

// What the Python package may cost on top of the table.
void add_python(Suite& suite, const std::shared_ptr<TraceFiles>& files) {
  suite.add("reader_python",
            Measurement{"read and kernels.to_numpy() of a 500 MB trace, minus 0.2 s / its table",
                        "x", kPythonLimit, [files] {
                          const std::string file = files->plain(500);
                          return median_of_turns([&] {
                            const double ours_ns = run_python(file) - kPythonStartS * 1e9;
                            return ours_ns / run_program(table_of(file));
                          });
                        }});
  suite.add("reader_python_json_load",
            {"read and kernels.to_numpy() of a 500 MB trace, speed / Python's json.load",
             {"epilogue.read, 500 MB", [files] { run_python(files->plain(500)); }},
             {"json.load",
              [files] {
                run_program({python(), "-c", "import json, sys; json.load(open(sys.argv[1]))",
                             files->plain(500)});
              }},
             Bound::kAtLeast,
             kJsonLoadLimit,
             1,
             1.0,
             1,
             false});
}

}  // namespace

int walk_trace(const char* path) {
  auto text = simdjson::padded_string::load(path);
  if (text.error() != simdjson::SUCCESS) return 2;
  simdjson::ondemand::parser parser;
  auto document = parser.iterate(text.value());
  size_t events = 0;
  for (auto event : document["traceEvents"].get_array()) {
    if (event.error() != simdjson::SUCCESS) return 2;
    ++events;
  }
  return events > 0 ? 0 : 2;
}

void add_reader(Suite& suite) {
  auto files = std::make_shared<TraceFiles>();
  const auto walk = [files] { run_program({tool("epilogue_bench"), "--walk", files->plain(500)}); };
  suite.add("reader_table",
            {"table of a 500 MB trace / bare simdjson walk, one thread",
             {"epilogue table, 500 MB", [files] { run_program(table_of(files->plain(500))); }},
             {"bare simdjson walk, 500 MB", walk},
             Bound::kAtMost,
             kTableLimit,
             1,
             1.0,
             kTurns,
             false});
  suite.add("reader_gz",
            {"table of the trace as .gz / bare walk of the plain one",
             {"epilogue table, .gz", [files] { run_program(table_of(files->gzipped(500))); }},
             {"bare simdjson walk, plain", walk},
             Bound::kAtMost,
             kGzipLimit,
             1,
             1.0,
             kTurns,
             false});
  const auto table = [files] { run_program(table_of(files->plain(500))); };
  const auto add_against_table = [&](const char* name, const char* claim, const char* verb) {
    const auto ours = [files, verb] { run_program({tool("epilogue"), verb, files->plain(500)}); };
    Contest contest;
    contest.text = claim;
    contest.ours.name = fmt::format("epilogue {}, 500 MB", verb);
    contest.ours.body = ours;
    contest.rival.name = "epilogue table, 500 MB";
    contest.rival.body = table;
    contest.limit = kVerbLimit;
    contest.turns = kTurns;
    contest.warm_up = false;
    suite.add(name, contest);
  };
  add_against_table("reader_summary", "summary of a 500 MB trace / its table", "summary");
  add_against_table("reader_steps", "steps of a 500 MB trace / its table", "steps");
  add_against_table("reader_breakdown", "breakdown of a 500 MB trace / its table", "breakdown");
  add_against_table("reader_advise", "advice about a 500 MB trace / its table", "advise");
  Contest two_files;
  two_files.text = "compare of two 500 MB traces / the tables of both";
  two_files.ours = {
      "epilogue compare, 2 x 500 MB", [files] {
        run_program({tool("epilogue"), "compare", files->plain(500), files->plain(500)});
      }};
  two_files.rival = {"epilogue table, twice", [table] {
                       table();
                       table();
                     }};
  two_files.limit = kVerbLimit;
  two_files.turns = kTurns;
  two_files.warm_up = false;
  suite.add("reader_compare", std::move(two_files));
  suite.add("reader_json_load",
            {"table of a 500 MB trace, speed / Python's json.load",
             {"epilogue table, 500 MB", [files] { run_program(table_of(files->plain(500))); }},
             {"python3 json.load",
              [files] {
                run_program({"python3", "-c", "import json, sys; json.load(open(sys.argv[1]))",
                             files->plain(500)});
              }},
             Bound::kAtLeast,
             1,
             1,
             1.0,
             1,
             false});
  suite.add(
      "reader_report",
      Measurement{"report of a 500 MB trace minus twice its table", "s", kReportLimit, [files] {
                    const std::string file = files->plain(500);
                    const double page_ns =
                        run_program({tool("epilogue"), "report", file, "-o", file + ".html"});
                    return (page_ns - 2 * run_program(table_of(file))) / 1e9;
                  }});
  suite.add("reader_memory",
            Measurement{"table of a 500 MB trace, peak memory / file", "x", kMemoryLimit, [files] {
                          const std::string file = files->plain(500);
                          return peak_bytes(table_of(file)) /
                                 static_cast<double>(std::filesystem::file_size(file));
                        }});
  suite.add("reader_scaling",
            Measurement{"time per event at 2 GB / at 250 MB", "x", kScalingLimit, [files] {
                          const auto best = [&](int64_t megabytes) {
                            double ns = 1e18;
                            for (int i = 0; i < 3; ++i) {
                              ns = std::min(ns, run_program(table_of(files->plain(megabytes))));
                            }
                            return ns / static_cast<double>(files->events(megabytes));
                          };
                          return best(2000) / best(250);
                        }});
  add_python(suite, files);
}

}  // namespace epi::bench
