// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/cuda_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/compiler/codegen/device_text.h"

namespace epi::compiler {
namespace {

constexpr int kVectorBytes = 16;

// A literal that parses to the same f32.
std::string literal(double number) {
  const auto value = static_cast<float>(number);
  if (std::isnan(value)) return "__uint_as_float(0x7fc00000)";
  if (std::isinf(value))
    return value > 0 ? "__uint_as_float(0x7f800000)" : "__uint_as_float(0xff800000)";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return std::signbit(value) ? "(" + text + "f)" : text + "f";
}

// Constants are converted if the type is not float.
std::string term_text(const Term& term, std::string_view type) {
  if (term.value >= 0) return fmt::format("v{}", term.value);
  return type == "float" ? literal(term.number) : fmt::format("{}({})", type, literal(term.number));
}

// "gelu_tanh(v0)": a function of pointwise/functions.h, or a conversion.
std::string step_text(const Step& step, std::string_view type) {
  std::vector<std::string> terms;
  for (const Term& term : step.terms) terms.push_back(term_text(term, type));
  if (step.function) {
    return fmt::format("{}({})", pointwise::info(*step.function).name, join(terms, ", "));
  }
  if (!step.rounded_to) return terms[0];
  return fmt::format("rounded_to<{}>({})", cuda_type(*step.rounded_to), terms[0]);
}

// The arithmetic of one element, one line per step.
std::string element_text(const PointwiseCode& code) {
  std::string out;
  for (size_t i = 0; i < code.inputs.size(); ++i) {
    out += fmt::format("    const float v{0} = to_float(in{0}.values[k]);\n", i);
  }
  out += cuda_steps(code.program, "    ", "float");
  for (size_t i = 0; i < code.outputs.size(); ++i) {
    out += fmt::format("    out{}.values[k] = rounded<{}>(v{});\n", i, cuda_type(code.outputs[i]),
                       code.program.outputs[i]);
  }
  return out;
}

std::string body_text(const std::string& name, const PointwiseCode& code) {
  const size_t operands = code.outputs.size() + code.inputs.size();
  std::string out = fmt::format(
      "template <int kCount>\n"
      "__device__ __forceinline__ void {}_body(const Walk<{}>& walk) {{\n"
      "  const unsigned item = blockIdx.x * {} + threadIdx.x;\n"
      "  if (item >= walk.items) return;\n"
      "  long long at[{}];\n"
      "  walk.find(item, at);\n"
      "  wait_for_inputs();\n",
      name, operands, kCudaThreads, operands);
  for (size_t i = 0; i < code.inputs.size(); ++i) {
    out += fmt::format("  const auto in{0} = walk.template read<{1}, kCount>({2}, at[{2}]);\n", i,
                       cuda_type(code.inputs[i].dtype), code.outputs.size() + i);
  }
  for (size_t i = 0; i < code.outputs.size(); ++i) {
    out += fmt::format("  Pack<{}, kCount> out{};\n", cuda_type(code.outputs[i]), i);
  }
  out += "#pragma unroll\n  for (int k = 0; k < kCount; ++k) {\n" + element_text(code) + "  }\n";
  for (size_t i = 0; i < code.outputs.size(); ++i) {
    out += fmt::format("  walk.write({0}, at[{0}], out{0});\n", i);
  }
  return out + "}\n";
}

std::string entry_text(const std::string& name, const char* form, const PointwiseCode& code,
                       int vector) {
  return fmt::format(
      "// {5}: {3} element{6} per thread.\n"
      "extern \"C\" __global__ void __launch_bounds__({4})\n"
      "{0}{1}(const __grid_constant__ Walk<{2}> walk) {{\n  {0}_body<{3}>(walk);\n}}\n",
      name, form, code.outputs.size() + code.inputs.size(), vector, kCudaThreads,
      operators_of(code.program), vector == 1 ? "" : "s");
}

}  // namespace

const char* cuda_type(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "float";
    case DType::kBF16:
      return "bf16";
    case DType::kF16:
      return "f16";
    default:
      throw BugError(fmt::format("no fused code for {}", name(dtype)));
  }
}

std::string cuda_steps(const Program& program, std::string_view indent, std::string_view type) {
  std::string out;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    out += fmt::format("{}const {} v{} = {};\n", indent, type,
                       static_cast<size_t>(program.inputs) + i, step_text(program.steps[i], type));
  }
  return out;
}

int cuda_vector(const PointwiseCode& code) {
  int64_t widest = 1;
  for (const DType dtype : code.outputs) widest = std::max(widest, size_bytes(dtype));
  for (const auto& input : code.inputs) widest = std::max(widest, size_bytes(input.dtype));
  return static_cast<int>(kVectorBytes / widest);
}

std::string emit_cuda_pointwise(const std::string& name, const PointwiseCode& code) {
  return in_device_namespace(body_text(name, code) + entry_text(name, "", code, cuda_vector(code)) +
                             entry_text(name, "_strided", code, 1));
}

std::string in_device_namespace(const std::string& kernels) {
  return "\nnamespace epi::device {\n\n" + kernels + "\n}  // namespace epi::device\n";
}

std::string cuda_prelude() { return kPointwiseDeviceText; }

}  // namespace epi::compiler
