// SPDX-License-Identifier: Apache-2.0
// Writes the recipes of `epilogue/glu` and the source of version 2:
//   recipes v1-cpu OUT.json       the functions of the library compiled from glu.cpp
//   recipes v1-cuda OUT.json      the launches of the kernels in glu.cu
//   recipes v2 OUT.json OUT.cu    the tile and stream forms of the compiler's Hopper GEMMs
// A file whose content does not change is not rewritten.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "epilogue/base/json_writer.h"
#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/hub/file_io.h"
#include "epilogue/hub/manifest.h"

namespace {

using namespace epi;
using compiler::GemmCode;
using compiler::HopperStream;
using compiler::HopperTile;

struct Activation {
  const char* glu;        // activation of the layer
  const char* pointwise;  // export of version 1
  const char* gate_up;    // export of version 2
  const char* kernel;     // the compiler's name for the kernel
  pointwise::Function function;
};
constexpr Activation kActivations[] = {
    {"geglu", "gelu_tanh_and_mul", "gelu_tanh_gate_up", "epi_tem_fused_gelu_mm_mul",
     pointwise::Function::kGeluTanh},
    {"swiglu", "silu_and_mul", "silu_gate_up", "epi_tem_fused_mm_mul_silu",
     pointwise::Function::kSilu}};

// ---- JSON helpers.

void begin_recipe(JsonWriter& json, int version, const char* code) {
  json.begin_object().key("name").string("epilogue/glu").key("version").integer(version);
  json.key("license").string("Apache-2.0").key("code").string(code);
}

void operand(JsonWriter& json, const char* name, const char* rows, const char* columns,
             const char* role = "") {
  json.begin_object().key("name").string(name);
  json.key("shape").begin_array().string(rows).string(columns).end_array();
  if (*role != '\0') json.key(role).boolean(true);
  json.end_object();
}

void size_rule(JsonWriter& json, const char* size, int64_t least, int64_t most, int64_t multiple) {
  json.begin_object().key("size").string(size).key("least").integer(least);
  if (most > 0) json.key("most").integer(most);
  json.key("multiple_of").integer(multiple).end_object();
}

void argument(JsonWriter& json, const char* kind, const char* value) {
  json.begin_object().key(kind).string(value).end_object();
}

void tensor_map(JsonWriter& json, const char* operand_name, int64_t rows, int64_t columns) {
  json.begin_object().key("tensor_map").string(operand_name);
  json.key("box").begin_array().integer(rows).integer(columns).end_array().end_object();
}

void tile(JsonWriter& json, int64_t rows, int64_t columns) {
  json.key("tile").begin_array().integer(rows).integer(columns).end_array();
}

// ---- Version 1.

void begin_pointwise(JsonWriter& json, const char* name) {
  json.begin_object().key("name").string(name).key("dtypes").begin_array();
  json.string("bf16").string("f16").string("f32").end_array();
  json.key("operands").begin_array();
  operand(json, "gate", "m", "n");
  operand(json, "up", "m", "n");
  operand(json, "out", "m", "n", "output");
  json.end_array().key("deterministic").boolean(true);
  // One flop per operator and element, as the compiler counts a fused kernel.
  json.key("flops").begin_object().key("times").integer(2);
  json.key("sizes").begin_array().string("m").string("n").end_array().end_object();
}

void begin_launch(JsonWriter& json, const std::string& kernel, DType dtype) {
  json.begin_object().key("kernel").string(kernel).key("dtype").string(name(dtype));
}

void pointwise_arguments(JsonWriter& json, const char* number, bool flat) {
  json.key("arguments").begin_array();
  for (const char* operand_name : {"gate", "up", "out"}) argument(json, "address", operand_name);
  if (!flat) argument(json, number, "m");
  argument(json, number, "n");
  for (const char* operand_name : {"gate", "up", "out"}) {
    if (!flat) argument(json, "row_stride", operand_name);
  }
  json.end_array().end_object();
}

// The matching form with the lowest cost is selected: first one contiguous row (cost 1), then rows
// in 16-byte vectors (the tile that wastes least), then single elements.
void pointwise_launches(JsonWriter& json, const std::string& base, DType dtype) {
  constexpr int kThreads = 256;
  const int64_t vector = 16 / size_bytes(dtype);
  begin_launch(json, base, dtype);
  json.key("flat").boolean(true).key("align_bytes").integer(16);
  json.key("threads").integer(kThreads);
  tile(json, 1, kThreads * vector);
  pointwise_arguments(json, "long", true);
  for (const int64_t row_bytes : {512, 4096}) {
    const int64_t width = row_bytes / size_bytes(dtype);
    begin_launch(json, fmt::format("{}_rows{}", base, row_bytes), dtype);
    json.key("align_bytes").integer(16).key("when").begin_array();
    size_rule(json, "n", 0, 0, vector);
    json.end_array().key("threads").integer(kThreads).key("wave_cost").real(1.01);
    tile(json, kThreads * vector / width, width);
    pointwise_arguments(json, "int", false);
  }
  begin_launch(json, base + "_any", dtype);
  json.key("threads").integer(kThreads).key("wave_cost").real(2);
  tile(json, 1, kThreads);
  pointwise_arguments(json, "long", false);
}

void pointwise_layers(JsonWriter& json) {
  json.key("layers").begin_array();
  for (const Activation& one : kActivations) {
    json.begin_object().key("name").string("GluMlp").key("activation").string(one.glu);
    json.key("pointwise").string(one.pointwise).end_object();
  }
  json.end_array().end_object();
}

std::string version_1(bool cuda) {
  JsonWriter json;
  begin_recipe(json, 1, cuda ? "glu.code" : "libglu.so");
  if (cuda) json.key("least_driver").integer(13000);
  json.key("exports").begin_array();
  for (const Activation& one : kActivations) {
    begin_pointwise(json, one.pointwise);
    if (cuda) {
      json.key("launches").begin_array();
      for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32}) {
        pointwise_launches(json, fmt::format("epi_pkg_{}_{}", one.pointwise, name(dtype)), dtype);
      }
      json.end_array();
    }
    json.end_object();
  }
  json.end_array();
  pointwise_layers(json);
  return json.text();
}

// ---- Version 2.

// Leaves the sizes unset: they are kernel arguments and do not affect the code.
GemmCode gemm_of(const Activation* activation, DType dtype) {
  GemmCode gemm;
  gemm.gemms = activation != nullptr ? 2 : 1;
  gemm.dtype = dtype;
  gemm.outputs = {dtype};
  gemm.program.inputs = gemm.gemms;
  gemm.program.outputs = {0};
  if (activation == nullptr) return gemm;
  const compiler::Step active{activation->function, {compiler::Term{0, 0}}};
  gemm.program.steps = {active,
                        {pointwise::Function::kMul, {compiler::Term{2, 0}, compiler::Term{1, 0}}}};
  gemm.program.outputs = {3};
  return gemm;
}

// Generates the source of all kernels of the package and the launches that describe them.
class Template {
 public:
  std::string source = compiler::cuda_prelude() + compiler::hopper_prelude();

  void add_launches(JsonWriter& json, const Activation* activation, DType dtype) {
    const GemmCode gemm = gemm_of(activation, dtype);
    const std::string base = activation != nullptr ? activation->kernel : "epi_tem_fused_mm";
    weights_ = activation != nullptr ? std::pair{"gate", "up"} : std::pair{"weight", "weight"};
    // The compiler's order, so that ties are resolved in the same way.
    for (const HopperTile& tile : compiler::hopper_tiles()) add_tile(json, base, gemm, tile);
    for (const int tokens : {8, 16, 32, 64}) {
      for (const int rows : {32, 16}) {
        if (tokens < 32 || rows == 32) add_stream(json, base, gemm, {rows, tokens});
      }
    }
  }

 private:
  std::string next_name(const std::string& base) { return fmt::format("{}_{}", base, count_++); }

  void arguments(JsonWriter& json, int64_t x_rows, int64_t weight_rows, int64_t out_columns) {
    json.key("arguments").begin_array();
    tensor_map(json, "x", x_rows, compiler::kTileDepth);
    tensor_map(json, weights_.first, weight_rows, compiler::kTileDepth);
    tensor_map(json, weights_.second, weight_rows, compiler::kTileDepth);
    out_columns > 0 ? tensor_map(json, "out", compiler::kStoredRows, out_columns)
                    : argument(json, "address", "out");
    // The addresses of epilogue operands, which these kernels do not have.
    json.begin_object().key("zeros").integer(8 * compiler::kMaxHopperOperands).end_object();
    for (const char* size : {"m", "n", "k"}) argument(json, "int", size);
    json.end_array().end_object();
  }

  // The time of a tile depends on k. A recipe has one cost for each range of k.
  void add_tile(JsonWriter& json, const std::string& base, const GemmCode& gemm,
                const HopperTile& hopper) {
    const std::string name = next_name(base);
    source += compiler::emit_hopper_tiles(name, gemm, hopper);
    struct Range {
      int64_t first, last, typical;
    };
    for (const Range& range : {Range{0, 1023, 768}, {1024, 4095, 2048}, {4096, 0, 8192}}) {
      GemmCode sized = gemm;
      sized.k = range.typical;
      sized.n = 1;
      const int64_t first = std::max(range.first, hopper.min_depth(gemm));
      begin_launch(json, name, gemm.dtype);
      json.key("when").begin_array();
      size_rule(json, "m", compiler::kMaxStreamRows + 1, 0, 1);
      size_rule(json, "k", first, range.last, 1);
      json.end_array().key("persistent").boolean(true).key("overlap").string("reads_weights");
      json.key("threads").integer(compiler::kTileThreads);
      json.key("shared_bytes").integer(hopper.shared_bytes(gemm));
      json.key("wave_cost").real(hopper.time_ns(sized, 1, 1));
      tile(json, hopper.rows, hopper.columns(gemm));
      arguments(json, hopper.rows, hopper.half, hopper.strip(gemm));
    }
  }

  void add_stream(JsonWriter& json, const std::string& base, const GemmCode& gemm,
                  const HopperStream& stream) {
    const std::string name = next_name(base) + "_stream";
    source += compiler::emit_hopper_stream(name, gemm, stream);
    begin_launch(json, name, gemm.dtype);
    json.key("when").begin_array();
    size_rule(json, "m", stream.tokens == 8 ? 1 : stream.tokens / 2 + 1, stream.tokens, 1);
    json.end_array().key("persistent").boolean(true).key("overlap").string("reads_weights");
    json.key("threads").integer(compiler::kStreamThreads);
    json.key("shared_bytes").integer(stream.shared_bytes(gemm));
    json.key("wave_cost").integer(stream.rows);
    tile(json, compiler::kMaxStreamRows, stream.rows);
    arguments(json, 0, stream.rows, 0);
  }

  int count_ = 0;
  std::pair<const char*, const char*> weights_;
};

void begin_gemm(JsonWriter& json, const Activation* activation) {
  json.begin_object().key("name").string(activation != nullptr ? activation->gate_up : "linear");
  json.key("dtypes").begin_array().string("bf16").string("f16").end_array();
  json.key("operands").begin_array();
  operand(json, "x", "m", "k");
  if (activation != nullptr) {
    operand(json, "gate", "n", "k", "weight");
    operand(json, "up", "n", "k", "weight");
  } else {
    operand(json, "weight", "n", "k", "weight");
  }
  operand(json, "out", "m", "n", "output");
  json.end_array().key("sizes").begin_array();
  size_rule(json, "m", 0, compiler::kMaxRows, 1);
  for (const char* size : {"n", "k"}) size_rule(json, size, 8, compiler::kMaxRows, 8);
  json.end_array().key("align_bytes").integer(16).key("deterministic").boolean(true);
  json.key("flops").begin_object().key("times").integer(activation != nullptr ? 4 : 2);
  json.key("sizes").begin_array().string("m").string("n").string("k").end_array().end_object();
  json.key("launches").begin_array();
}

std::string version_2(std::string& source) {
  JsonWriter json;
  Template made;
  begin_recipe(json, 2, "glu.code");
  json.key("least_driver").integer(13000).key("exports").begin_array();
  for (const Activation* one : {&kActivations[0], &kActivations[1], (const Activation*)nullptr}) {
    begin_gemm(json, one);
    for (const DType dtype : {DType::kBF16, DType::kF16}) made.add_launches(json, one, dtype);
    json.end_array().end_object();
  }
  json.end_array().key("layers").begin_array();
  for (const Activation& one : kActivations) {
    json.begin_object().key("name").string("GluMlp").key("activation").string(one.glu);
    json.key("gate_up").string(one.gate_up).key("down").string("linear").end_object();
  }
  source = made.source;
  return json.end_array().end_object().text();
}

int write(const char* path, std::string_view bytes) {
  const auto existing = hub::read_user_file(path, hub::kMaxFileBytes);
  if (existing && *existing == bytes) return 0;
  const auto written = hub::write_file(path, bytes);
  if (!written) std::fprintf(stderr, "recipes: %s\n", written.error().message.c_str());
  return written ? 0 : 2;
}

int run(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "v1-cpu") == 0) {
    return write(argv[2], json_indented(version_1(false)));
  }
  if (argc == 3 && std::strcmp(argv[1], "v1-cuda") == 0) {
    return write(argv[2], json_indented(version_1(true)));
  }
  if (argc == 4 && std::strcmp(argv[1], "v2") == 0) {
    std::string source;
    const std::string recipe = version_2(source);
    return write(argv[2], json_indented(recipe)) + write(argv[3], source);
  }
  std::fprintf(stderr,
               "usage: recipes v1-cpu|v1-cuda OUT.json\n       recipes v2 OUT.json OUT.cu\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "recipes: %s\n", error.what());
    return 2;
  }
}
