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

// The flags as typed. A size may be a list, such as "64,96,128": each value is run.
struct RunFlags {
  std::string workload;
  std::string batch, seq, dim, hidden, in_dim, out_dim, size, rows, cols;
  std::string activation = "geglu";
  std::string layout = "nn";  // of matmul-add's w; tn: a transposed view, as in a Linear
  bool bias = false;          // matmul-add: b is a vector of length cols
  bool no_bias = false;       // linear: omit the bias
  std::string dtype;
  std::string device = "auto";
  std::string weights;
  std::string prefix;
  std::string int8;          // groups, rows
  bool float_input = false;  // with int8 weights: do not quantize the input
  std::string warmup = "3";
  std::string steps;    // "wait,warmup,active"
  std::string trace;    // the file to write
  bool force = false;   // replace files under derived names
  std::string kernels;  // package NAME@VERSION
  std::string like;     // TRACE[:ANNOTATION]
  HubFlags hub;         // package sources and trust settings
  bool compile = false;
  bool graph = false;   // needs compile and a GPU
  std::string fuse;     // none, pointwise, epilogue
  std::string dynamic;  // on, off
  std::string show;     // graph, passes, code, plan
  std::string kernel;   // whose code is shown; empty: all
  bool table = false;
  bool json = false;
  bool markdown = false;
};

// --weights and --prefix, shared by `run` and `bench`.
void add_weight_options(Command& verb, RunFlags& flags);
// --int8 and --float-input, of `run` and `bench`.
void add_int8_options(Command& verb, RunFlags& flags);

// The sizes of one run. Absent sizes come from the weights, or are the workload's defaults.
struct RunSizes {
  std::optional<int64_t> batch, seq, dim, hidden, in_dim, out_dim, size, rows, cols;
};

// An integer from 1 to 2^62. Throws an `Error` that names the flag otherwise.
int64_t positive_number(const std::string& flag, const std::string& text);
// A list of such numbers, "64,96,128". Throws for duplicates.
std::vector<int64_t> positive_numbers(const std::string& flag, const std::string& text);
// An integer from 0 to 2^62.
int64_t parse_count(const std::string& flag, const std::string& text);

// Every combination of the lists. The last flag varies fastest.
std::vector<RunSizes> expand_sizes(const RunFlags& flags);

// The schedule of --steps. The default is 1,1,3 if the recording is printed or written, else a
// single forward.
profile::Schedule parse_steps(const RunFlags& flags);

// "batch64_seq128": the sizes of this run that were given as lists. Empty if none was.
std::string list_label(const RunFlags& flags, const RunSizes& sizes);

// Empty if the flag was not given. Throws for a dtype that `run` does not support.
std::optional<DType> parse_dtype(const std::string& text);
// The options of --compile, --fuse, --dynamic and --graph, or none without --compile. Throws for
// flags that do not go together.
std::optional<CompileOptions> parse_compile(const RunFlags& flags);
// Registers the backend of --device and returns the device. `auto` is the first GPU if there is one
// and the weights are not int8, else the CPU. Throws if the device is not available.
Device choose_device(const RunFlags& flags);
// f32 on the CPU, bf16 on CUDA.
DType default_dtype(Device device);

}  // namespace epi::cli
