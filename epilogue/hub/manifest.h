// SPDX-License-Identifier: Apache-2.0
// `manifest.json` of a package variant: identity, target machine, exports, and the hash of every
// file. docs/hub.md documents the schema. The parser checks every rule that does not need the
// files.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/tensor/dtype.h"

namespace epi::hub {

inline constexpr int64_t kMaxManifestBytes = 1 << 20;
inline constexpr int64_t kMaxFileBytes = int64_t{1} << 30;

// Constraints on a size ("m", "n").
struct SizeRule {
  std::string size;
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
  int64_t multiple_of = 1;
};

// A matrix. Sizes with equal names are equal.
struct Operand {
  std::string name;
  std::array<std::string, 2> shape;  // rows, columns
  bool output = false;
  bool weight = false;  // constant between calls
};

// An argument of a kernel in a cubin.
struct Argument {
  enum class Kind : uint8_t { kAddress, kRowStride, kInt, kLong, kTensorMap, kZeros };
  Kind kind = Kind::kAddress;
  size_t operand = 0;
  std::string size;      // for kInt (32 bits) and kLong (64 bits)
  int64_t box_rows = 0;  // for kTensorMap; 0: all rows of the operand
  int64_t box_columns = 0;
  int64_t bytes = 0;  // for kZeros
};

// The size of an argument. All arguments of a launch, each aligned like a tensor map, take at most
// 4096 bytes.
size_t argument_bytes(const Argument& argument);
inline constexpr size_t kArgumentAlignment = 64;
inline constexpr size_t kMaxArgumentBytes = 4096;

// Whether a launch may start before the preceding kernel has finished (programmatic dependent
// launch).
enum class Overlap : uint8_t {
  kNo,
  kYes,          // the kernel waits before it reads or writes anything
  kReadsWeights  // the kernel reads weights early and waits before everything else
};

// How a kernel of a cubin is launched: one block per tile of the first output, or one block per
// multiprocessor, among which the tiles are distributed (`persistent`).
struct Launch {
  std::string kernel;
  DType dtype = DType::kF32;
  std::vector<SizeRule> when;  // supported sizes
  int64_t align_bytes = 1;     // required alignment of addresses and row strides
  bool flat = false;           // contiguous matrices are passed as one row
  std::array<int64_t, 2> tile = {1, 1};
  int64_t threads = 1;
  int64_t shared_bytes = 0;
  bool persistent = false;
  Overlap overlap = Overlap::kNo;
  double wave_cost = 1;  // the matching launch with the lowest waves * wave_cost is selected
  std::vector<Argument> arguments;
};

struct Export {
  std::string name;
  std::vector<DType> dtypes;  // of all operands
  std::vector<Operand> operands;
  std::vector<SizeRule> sizes;
  int64_t align_bytes = 1;
  bool deterministic = false;
  // The floating-point operations of a call: `flops` times the product of these sizes.
  int64_t flops = 0;
  std::vector<std::string> flops_sizes;
  std::vector<Launch> launches;  // empty: a library function with the same name
};

// A drop-in replacement for one of our modules. GluMlp runs three GEMMs and `pointwise`, or
// `gate_up` and `down`.
struct Layer {
  std::string name;        // "GluMlp"
  std::string activation;  // "geglu"
  std::string pointwise;
  std::string gate_up;
  std::string down;
};

struct FileEntry {
  std::string sha256;
  int64_t bytes = 0;
};

struct Manifest {
  std::string name;
  int64_t version = 0;
  std::string variant;
  std::string license;
  std::optional<std::string> commit;    // of the source, if known
  bool dirty = false;                   // the source had uncommitted changes
  std::optional<std::string> released;  // see utc_time.h
  std::optional<std::string> expires;
  int64_t abi_least = 1;
  int64_t abi_most = 1;
  std::string backend;                  // as in the variant: "cpu", "cu13"
  std::vector<std::string> targets;     // "x86_64", "avx2"; "sm90a"
  std::optional<int64_t> least_driver;  // in CUDA's version encoding: 13000
  std::string code;                     // the library, cubin or PTX
  std::vector<Export> exports;
  std::vector<Layer> layers;
  std::map<std::string, FileEntry> files;

  const Export* find_export(std::string_view name) const;
};

// Why `name` is not a package name such as "epilogue/glu"; empty if it is one.
std::string name_error(std::string_view name);

}  // namespace epi::hub
