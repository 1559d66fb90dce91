// SPDX-License-Identifier: Apache-2.0
// The flags of `epilogue run`, parsed and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/cli/command.h"
#include "epilogue/cli/run/hub_options.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/device.h"
#include "epilogue/tensor/dtype.h"

namespace epi::cli {

// The flags as they were typed. A size may be a list, "64,96,128": each is run.
struct RunFlags {
  std::string workload;
  std::string batch, seq, dim, hidden, in_dim, out_dim, size, rows, cols;
  std::string activation = "geglu";
  std::string layout = "nn";  // of matmul-add's w; tn: a transposed view, as a Linear has it
  bool bias = false;          // matmul-add: b is a vector
  bool no_bias = false;       // linear: without one
  std::string dtype;
  std::string device = "auto";
  std::string weights;
  std::string prefix;
  std::string warmup = "3";
  std::string steps;    // "wait,warmup,active"
  std::string trace;    // the file to write
  std::string kernels;  // NAME@VERSION of a package
  std::string like;     // TRACE[:ANNOTATION]
  HubFlags hub;         // where it is, and whom to trust
  bool compile = false;
  bool graph = false;   // with compile, on a GPU
  std::string fuse;     // none, pointwise, epilogue
  std::string dynamic;  // on, off
  std::string show;     // graph, passes, code, plan
  bool table = false;
  bool json = false;
  bool markdown = false;
};

// --weights and --prefix, which `bench` has too.
void add_weight_options(Command& verb, RunFlags& flags);

// One run's sizes. Those that were not given are the workload's defaults, or the weights'.
struct RunSizes {
  std::optional<int64_t> batch, seq, dim, hidden, in_dim, out_dim, size, rows, cols;
};

// A whole number from 1 to 2^62; throws `Error` naming the flag otherwise.
int64_t positive_number(const std::string& flag, const std::string& text);
// "64,96,128" as such numbers, none of them twice.
std::vector<int64_t> positive_numbers(const std::string& flag, const std::string& text);
// One number from 0.
int64_t parse_count(const std::string& flag, const std::string& text);

// Every combination of the lists, the last flag changing fastest.
std::vector<RunSizes> expand_sizes(const RunFlags& flags);

// The schedule of --steps; by default 1,1,3 where something of the recording is shown or kept, and
// else the one forward that is shown.
profile::Schedule parse_steps(const RunFlags& flags);

// "batch64_seq128": the sizes of this run that the flags gave as lists; empty where none is one.
std::string list_label(const RunFlags& flags, const RunSizes& sizes);

// None where the flag was not given; throws for a dtype that `run` does not take.
std::optional<DType> parse_dtype(const std::string& text);
// What --compile, --fuse, --dynamic and --show ask for; none where nothing is to be compiled.
std::optional<CompileOptions> parse_compile(const RunFlags& flags);
// The device of --device, its backend registered; `auto` is the first GPU where there is one.
// Throws for one that cannot run here.
Device choose_device(const RunFlags& flags);
// f32 on the CPU, bf16 on CUDA.
DType default_dtype(Device device);

}  // namespace epi::cli
