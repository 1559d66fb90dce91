// SPDX-License-Identifier: Apache-2.0
// Parsing of manifests: a valid one, and the error message for each violated rule.
#include "epilogue/hub/manifest.h"

#include <gtest/gtest.h>

#include "epilogue/hub/code_target.h"
#include "epilogue/hub/manifest_parser.h"
#include "tests/hub/test_package.h"

namespace epi::hub {
namespace {

std::string good_manifest() {
  const std::string hash(64, 'a');
  return R"({"schema": 1, "name": "test/gemm", "version": 3, "variant": "abi1-cu13-sm90a-linux",
    "license": "MIT", "source": {"commit": "abc", "dirty": false}, "abi": {"least": 1, "most": 2},
    "backend": "cu13", "targets": ["sm90a"], "least_driver": 13000, "code": "gemm.cubin",
    "files": {"gemm.cubin": {"sha256": ")" +
         hash + R"(", "bytes": 10}},
    "exports": [{"name": "gemm", "dtypes": ["bf16"], "align_bytes": 16, "deterministic": true,
      "operands": [{"name": "x", "shape": ["m", "k"]}, {"name": "w", "shape": ["n", "k"], "weight": true},
                   {"name": "y", "shape": ["m", "n"], "output": true}],
      "sizes": [{"size": "n", "least": 8, "multiple_of": 8}],
      "flops": {"times": 2, "sizes": ["m", "n", "k"]},
      "launches": [{"kernel": "gemm_128", "dtype": "bf16", "when": [{"size": "m", "least": 65}],
        "tile": [128, 256], "threads": 384, "shared_bytes": 200000, "persistent": true,
        "overlap": "yes", "wave_cost": 1.5,
        "arguments": [{"tensor_map": "x", "box": [128, 64]}, {"address": "y"}, {"row_stride": "y"},
                      {"zeros": 96}, {"int": "m"}, {"long": "k"}]}]},
     {"name": "pair", "dtypes": ["bf16"],
      "operands": [{"name": "x", "shape": ["m", "k"]}, {"name": "gate", "shape": ["n", "k"]},
                   {"name": "up", "shape": ["n", "k"]}, {"name": "y", "shape": ["m", "n"], "output": true}],
      "launches": [{"kernel": "pair", "dtype": "bf16", "tile": [1, 1], "threads": 32, "arguments": []}]}],
    "layers": [{"name": "GluMlp", "activation": "geglu", "gate_up": "pair", "down": "gemm"}]})";
}

TEST(Manifest, ParsesValidManifest) {
  const auto manifest = parse_manifest(good_manifest(), "m");
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->name, "test/gemm");
  EXPECT_EQ(manifest->version, 3);
  EXPECT_EQ(manifest->least_driver, 13000);
  EXPECT_EQ(manifest->abi_most, 2);
  const Export* gemm = manifest->find_export("gemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_TRUE(gemm->operands[1].weight && gemm->operands[2].output);
  const Launch& launch = gemm->launches.at(0);
  EXPECT_EQ(launch.when[0].least, 65);
  EXPECT_EQ(launch.tile, (std::array<int64_t, 2>{128, 256}));
  EXPECT_EQ(launch.overlap, Overlap::kYes);
  EXPECT_EQ(launch.wave_cost, 1.5);
  EXPECT_EQ(launch.arguments[0].kind, Argument::Kind::kTensorMap);
  EXPECT_EQ(launch.arguments[2].operand, 2U);
  EXPECT_EQ(launch.arguments[4].kind, Argument::Kind::kInt);
  EXPECT_EQ(manifest->layers[0].down, "gemm");
}

struct BrokenRule {
  const char* from;
  const char* to;
  const char* message;
};
constexpr BrokenRule kBrokenRules[] = {
    {"\"schema\": 1", "\"schema\": 2", "schema: must be an integer from 1 to 1"},
    {"\"name\": \"test/gemm\"", "\"name\": \"Test\"",
     "name: must be a name such as \"epilogue/glu\" of a-z, 0-9, - and _"},
    {"\"version\": 3, ", "", "the file: \"version\" is missing"},
    {"\"version\": 3", "\"version\": -1", "version: must be an integer from 0 to 1000000"},
    {"sm90a-linux", "sm90a",
     "variant: not a valid variant: expected abi<N>-<backend>-<target>-<os>, "
     "such as abi1-cu13-sm90a-linux"},
    {"\"backend\": \"cu13\"", "\"backend\": \"cu12\"", "backend: does not match the variant"},
    {"[\"sm90a\"]", "[\"sm80\"]", "targets: does not match the variant"},
    {"\"least\": 1, \"most\": 2", "\"least\": 2, \"most\": 2",
     "abi: \"least\" does not match the variant"},
    {"\"license\": \"MIT\"", "\"license\": 7", "license: must be a string"},
    {"\"code\": \"gemm.cubin\"", "\"code\": \"x\"", "code: not listed in \"files\""},
    {"\"bytes\": 10", "\"bytes\": 1e30",
     "files[\"gemm.cubin\"].bytes: must be an integer from 0 to 1073741824"},
    {"aaaa", "AAAA", "files[\"gemm.cubin\"].sha256: must be 64 lowercase hex digits"},
    {"\"dtypes\": [\"bf16\"]", "\"dtypes\": [\"i64\"]",
     "exports[0].dtypes[0]: must be f64, f32, bf16 or f16"},
    {"[\"m\", \"k\"]", "[\"m\"]", "exports[0].operands[0].shape: must have two sizes"},
    {", \"output\": true", "", "exports[0].operands: must have at least one output"},
    {"\"multiple_of\": 8", "\"multiple_of\": 0",
     "exports[0].sizes[0].multiple_of: must be an integer from 1 to 9223372036854775807"},
    {"\"size\": \"n\"", "\"size\": \"q\"",
     "exports[0].sizes[0].size: no operand has a size with this name"},
    {"\"align_bytes\": 16", "\"align_bytes\": 12",
     "exports[0].align_bytes: must be a power of two"},
    {"\"threads\": 384", "\"threads\": 2000",
     "exports[0].launches[0].threads: must be an integer from 1 to 1024"},
    {"\"wave_cost\": 1.5", "\"wave_cost\": 0",
     "exports[0].launches[0].wave_cost: must be a number greater than 0"},
    {"\"overlap\": \"yes\"", "\"overlap\": \"y\"",
     "exports[0].launches[0].overlap: must be no, yes or reads_weights"},
    {"{\"address\": \"y\"}", "{\"address\": \"z\"}",
     "exports[0].launches[0].arguments[1].address: no operand has this name"},
    {"{\"zeros\": 96}", "{}",
     "exports[0].launches[0].arguments[3]: must have address, row_stride, int, "
     "long, tensor_map or zeros"},
    {"[128, 64]", "[128, 48]", "exports[0].launches[0].arguments[0].box[1]: must be 32 or 64"},
    {R"("launches": [{"kernel": "pair", "dtype": "bf16", "tile": [1, 1], "threads": 32, "arguments": []}])",
     R"("sizes": [])", "exports[1]: must have launches, because its code is a cubin or PTX"},
    {"\"license\": \"MIT\"", "\"license\": \"MIT\", \"license\": \"MIT\"",
     "[\"license\"]: occurs more than once"},
    {"\"threads\": 384", "\"threads\": 384, \"thre\\u0061ds\": 1",
     "[\"exports\"][0][\"launches\"][0][\"threads\"]: occurs more than once"},
    {"\"bytes\": 10}", "\"bytes\": 10}, \"gemm.cubin\": {}",
     "[\"files\"][\"gemm.cubin\"]: occurs more than once"},
    {"\"license\": \"MIT\"", "\"license\": \"MIT\", \"released\": \"2026-02-30T00:00:00Z\"",
     "released: must be a time in UTC such as 2026-11-17T09:00:00Z"},
    {"\"down\": \"gemm\"", "\"down\": \"up\"", "layers[0].down: no such export"},
    {", \"down\": \"gemm\"", "", "layers[0]: must have either pointwise, or gate_up and down"},
    {"\"GluMlp\"", "\"Mlp\"", "layers[0].name: must be GluMlp"},
    {"\"geglu\"", "\"relu\"", "layers[0].activation: must be geglu, geglu_erf or swiglu"},
    {"\"gate_up\": \"pair\"", "\"gate_up\": \"gemm\"",
     "layers[0].gate_up: must be an export with 3 inputs and one output"},
    {"\"license\"", "\"licence\"", "[\"licence\"]: unknown field"},
    {"\"shared_bytes\"", "\"shared\"", "exports[0].launches[0][\"shared\"]: unknown field"},
    {"\"MIT\"", "\"M\\u001bIT\"", "license: must not contain control characters"},
    {"{\"name\": \"w\"", "{\"name\": \"x\"", "exports[0].operands[1]: duplicate operand name"},
    {"[\"m\", \"n\"], \"output\"", "[\"m\", \"z\"], \"output\"",
     "exports[0].operands: no input has the size z"},
};

TEST(Manifest, ErrorsNamePlaceAndRule) {
  for (const BrokenRule& broken : kBrokenRules) {
    std::string text = good_manifest();
    const size_t at = text.find(broken.from);
    ASSERT_NE(at, std::string::npos) << broken.from;
    text.replace(at, std::string_view(broken.from).size(), broken.to);
    const auto manifest = parse_manifest(text, "m");
    ASSERT_FALSE(manifest) << broken.to;
    EXPECT_EQ(manifest.error().message, fmt::format("m: {}", broken.message));
  }
}

TEST(Manifest, RejectsManifestWithoutExports) {
  std::string text = good_manifest();
  const size_t from = text.find("[{\"name\": \"gemm\"");
  text.replace(from, text.find(",\n    \"layers\"") - from, "[]");
  const auto manifest = parse_manifest(text, "m");
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().message, "m: exports: must have at least one entry");
}

TEST(Manifest, RejectsInvalidJson) {
  for (const char* text : {"", "{", "[]", "1", "\"\xff\"", "{\"schema\": 1}"}) {
    EXPECT_FALSE(parse_manifest(text, "m")) << text;
  }
  const std::string deep(100'000, '[');
  EXPECT_FALSE(parse_manifest(deep, "m"));
}

// The target is read from the code itself.
TEST(Manifest, RejectsCodeForAnotherTarget) {
  auto manifest = parse_manifest(good_manifest(), "m");
  ASSERT_TRUE(manifest);
  std::string cubin(64, '\0');
  cubin.replace(0, 7,
                "\x7f"
                "ELF\x02\x01\x01");
  cubin[8] = 8;  // ABI version of CUDA 13
  cubin[18] = static_cast<char>(190);
  cubin[49] = 90;
  EXPECT_EQ(code_target(cubin), "sm_90 cubin");
  EXPECT_EQ(code_error(*manifest, cubin), "");
  cubin[49] = 80;
  EXPECT_EQ(code_error(*manifest, cubin),
            "gemm.cubin: sm_80 cubin, the variant abi1-cu13-sm90a-linux needs sm_90 cubin");
  cubin[8] = 7;  // before CUDA 13 the first byte holds the architecture
  cubin[48] = 90;
  EXPECT_EQ(code_error(*manifest, cubin), "");
  EXPECT_EQ(code_target("//\n.version 9.0\n.target sm_80\n"), "sm_80 PTX");
  EXPECT_EQ(code_target(fake_library("")), "x86_64 library");
  for (const char* bytes : {"",
                            "\x7f"
                            "ELF",
                            "#!/bin/sh", ".target sm_80"}) {
    EXPECT_EQ(code_target(bytes), "") << bytes;
  }
}

}  // namespace
}  // namespace epi::hub
