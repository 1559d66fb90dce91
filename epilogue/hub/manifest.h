// SPDX-License-Identifier: Apache-2.0
// `manifest.json` of one variant of a package: what it is, what it runs on, what it exports, and
// the hash of every file. The schema is documented in docs/hub.md; the parser holds every rule of
// it that does not need the files.
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

// What a size ("m", "n") must be like.
struct SizeRule {
  std::string size;
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
  int64_t multiple_of = 1;
};

// A matrix; equal names of sizes are equal sizes.
struct Operand {
  std::string name;
  std::array<std::string, 2> shape;  // rows, columns
  bool output = false;
  bool weight = false;  // does not change between calls
};

// An argument of a kernel in a cubin.
struct Argument {
  enum class Kind : uint8_t { kAddress, kRowStride, kInt, kLong, kTensorMap, kZeros };
  Kind kind = Kind::kAddress;
  size_t operand = 0;
  std::string size;      // of kInt and kLong, of 32 and 64 bits
  int64_t box_rows = 0;  // of kTensorMap; 0: as many as the operand has
  int64_t box_columns = 0;
  int64_t bytes = 0;  // of kZeros
};

// What it takes; a launch's arguments, each aligned like a tensor map, are at most 4096 bytes.
size_t argument_bytes(const Argument& argument);
inline constexpr size_t kArgumentAlignment = 64;
inline constexpr size_t kMaxArgumentBytes = 4096;

// Whether a launch may begin while the kernel in front of it ends.
enum class Overlap : uint8_t {
  kNo,
  kYes,          // it waits before it reads or writes anything
  kReadsWeights  // it waits before everything but reading weights
};

// How a kernel of a cubin is launched: one block for each tile of the (first) output, or as many as
// the GPU has processors, which then share the tiles out (`persistent`).
struct Launch {
  std::string kernel;
  DType dtype = DType::kF32;
  std::vector<SizeRule> when;  // it suits these sizes
  int64_t align_bytes = 1;     // addresses and row strides are multiples of it
  bool flat = false;           // matrices without gaps are passed as one row
  std::array<int64_t, 2> tile = {1, 1};
  int64_t threads = 1;
  int64_t shared_bytes = 0;
  bool persistent = false;
  Overlap overlap = Overlap::kNo;
  double wave_cost = 1;  // of those that suit, the least of waves times this is taken
  std::vector<Argument> arguments;
};

struct Export {
  std::string name;
  std::vector<DType> dtypes;  // of all operands
  std::vector<Operand> operands;
  std::vector<SizeRule> sizes;
  int64_t align_bytes = 1;
  bool deterministic = false;
  // What one call computes: `flops` times the product of these sizes.
  int64_t flops = 0;
  std::vector<std::string> flops_sizes;
  std::vector<Launch> launches;  // empty: a function of the library, of the same name
};

// A drop-in for a module of ours. GluMlp: three GEMMs and `pointwise`, or `gate_up` and `down`.
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
  std::optional<std::string> commit;  // of the source, where it is known
  bool dirty = false;                 // the source had changes beside it
  int64_t abi_least = 1;
  int64_t abi_most = 1;
  std::string backend;                  // "cpu", "cu13": as in the variant
  std::vector<std::string> targets;     // "x86_64", "avx2"; "sm90a"
  std::optional<int64_t> least_driver;  // as CUDA counts: 13000
  std::string code;                     // the library, cubin or PTX
  std::vector<Export> exports;
  std::vector<Layer> layers;
  std::map<std::string, FileEntry> files;

  const Export* find_export(std::string_view name) const;
};

// "epilogue/glu": why this is not the name of a package; empty where it is one.
std::string name_objection(std::string_view name);

}  // namespace epi::hub
