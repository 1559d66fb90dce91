// SPDX-License-Identifier: Apache-2.0
// epi_pkg_gelu_tanh_and_mul_bf16_rows512: kernels of Epilogue's packages. The export's name, a
// type, and optionally a form: rows with gaps between them, or single elements.
#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

constexpr std::string_view kPrefix = "epi_pkg_";
constexpr std::string_view kAndMul = "_and_mul_";

}  // namespace

bool read_package(std::string_view name, DecodedName& out) {
  if (!name.starts_with(kPrefix)) return false;
  out.library = Library::kEpilogue;
  name.remove_prefix(kPrefix.size());
  const size_t at = name.find(kAndMul);
  if (at == std::string_view::npos) return true;  // a third-party kernel: nothing is known about it
  out.kind = Kind::kPointwise;
  const std::string_view activation = name.substr(0, at);
  out.ops = {std::string(activation.substr(0, activation.find('_'))), "mul"};
  Words words(name.substr(at + kAndMul.size()));
  if (const auto type = words.next()) out.dtype = out.output = number_type(*type);
  if (name.ends_with("_any")) out.vector_width = 1;
  return true;
}

}  // namespace epi::analysis::names
