// SPDX-License-Identifier: Apache-2.0
// Flags and recording, shared by the programs in this folder. The programs of the same names in
// pytorch/ take the same flags and write the same kind of trace.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "epilogue/compiler/compile_options.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/device.h"
#include "epilogue/tensor/dtype.h"

namespace example {

// Parses flags such as "--in-dim 32 --compile". The program queries each flag once, then `done`
// rejects the flags that it did not query. Underscores are accepted in place of dashes. Throws
// `epi::Error` for invalid values.
class Flags {
 public:
  Flags(int argc, char** argv, std::string_view about);

  bool has(const std::string& flag, std::string_view help);
  std::string text(const std::string& flag, const std::string& default_value,
                   std::string_view help);
  int64_t size(const std::string& flag, int64_t default_value, std::string_view help);
  // Whether to continue. False if --help was given, after printing the help.
  bool done();

 private:
  void add_help(const std::string& flag, const std::string& default_value, std::string_view help);

  std::string help_;
  bool help_requested_ = false;
  // The flags not queried yet. The value is nullopt if none was given.
  std::map<std::string, std::optional<std::string>> given_;
};

// The flags that all programs share.
struct Recording {
  epi::Device device;
  epi::DType dtype;
  epi::profile::Schedule schedule;
  int64_t warmup = 3;
  std::string trace;  // file to write, or empty
};

// Registers the device's backend.
Recording recording_flags(Flags& flags);

struct Compile {
  bool compile = false;
  epi::CompileOptions options;
};
Compile compile_flags(Flags& flags, const std::string& name);

// Runs `forward` on the schedule, each call inside `annotation`. Prints the profiler's table and
// writes the trace.
void record(const std::string& annotation, const std::function<void()>& forward,
            const Recording& recording);

// Runs `program` and returns the exit code. Prints an error in one line.
int run(const std::function<void()>& program);

}  // namespace example
