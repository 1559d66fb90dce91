// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: their flags, and how a forward is recorded. The programs
// of the same names in pytorch/ take the same flags and write the same kind of trace.
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

// "--in-dim 32 --compile": each flag is asked for once, then `done` refuses what nobody asked for.
// Underscores work too. Throws `epi::Error` for values that cannot be read.
class Flags {
 public:
  Flags(int argc, char** argv, std::string_view about);

  bool has(const std::string& flag, std::string_view help);
  std::string text(const std::string& flag, const std::string& usual, std::string_view help);
  int64_t size(const std::string& flag, int64_t usual, std::string_view help);
  // Whether to go on: false where --help was given, and has been printed.
  bool done();

 private:
  void add_help(const std::string& flag, const std::string& usual, std::string_view help);

  std::string help_;
  bool asked_for_help_ = false;
  // Without those that were asked for; none where no value follows.
  std::map<std::string, std::optional<std::string>> given_;
};

// The flags that every program has.
struct Recording {
  epi::Device device;
  epi::DType dtype;
  epi::profile::Schedule schedule;
  int64_t warmup = 3;
  std::string trace;  // the file to write; empty: none
};

// Registers the device's backend.
Recording recording_flags(Flags& flags);

struct Compile {
  bool compile = false;
  epi::CompileOptions options;
};
Compile compile_flags(Flags& flags, const std::string& name);

// Runs `forward` by the schedule, each call as `annotation`; prints the profiler's table and writes
// the trace.
void record(const std::string& annotation, const std::function<void()>& forward,
            const Recording& recording);

// Runs `program`; prints an error in one line. Returns the exit code.
int run(const std::function<void()>& program);

}  // namespace example
