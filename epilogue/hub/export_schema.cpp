// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/export_schema.h"

#include <algorithm>
#include <cmath>

namespace epi::hub {
namespace {

constexpr size_t kMaxItems = 100;  // operands, launches, arguments
constexpr size_t kMaxNameLength = 100;
constexpr int64_t kMaxTile = int64_t{1} << 20;
constexpr int64_t kMaxZeros = 512;
constexpr int64_t kMaxBox = 256;  // of a tensor map

std::string identifier(const JsonField& field) {
  std::string text = field.text();
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (text.empty() || text.size() > kMaxNameLength || !std::ranges::all_of(text, is_letter)) {
    field.refuse(fmt::format("must be a name of letters, digits and _, at most {} characters",
                             kMaxNameLength));
  }
  return text;
}

std::vector<JsonField> checked_items(const JsonField& field) {
  auto items = field.items();
  if (items.size() > kMaxItems)
    field.refuse(fmt::format("must have at most {} entries", kMaxItems));
  return items;
}

DType dtype(const JsonField& field) {
  const auto found = dtype_from_name(field.text());
  if (!found || !is_floating(*found)) field.refuse("must be f64, f32, bf16 or f16");
  return *found;
}

// At most the alignment of tensor memory.
int64_t alignment(const JsonField& field) {
  const int64_t bytes = field.integer(1, 64);
  if ((bytes & (bytes - 1)) != 0) field.refuse("must be a power of two");
  return bytes;
}

// Looks up names of operands and sizes.
struct Names {
  const std::vector<Operand>& operands;

  size_t operand(const JsonField& field) const {
    const auto found = std::ranges::find(operands, field.text(), &Operand::name);
    if (found == operands.end()) field.refuse("no operand has this name");
    return static_cast<size_t>(found - operands.begin());
  }
  std::string size(const JsonField& field) const {
    std::string text = field.text();
    const bool known = std::ranges::any_of(operands, [&](const Operand& operand) {
      return operand.shape[0] == text || operand.shape[1] == text;
    });
    if (!known) field.refuse("no operand has a size with this name");
    return text;
  }
};

Operand read_operand(const JsonField& field) {
  field.allow_only({"name", "shape", "output", "weight"});
  Operand operand;
  operand.name = identifier(field.at("name"));
  const auto shape = field.at("shape").items();
  if (shape.size() != 2) field.at("shape").refuse("must have two sizes");
  operand.shape = {identifier(shape[0]), identifier(shape[1])};
  if (const auto output = field.find("output")) operand.output = output->boolean();
  if (const auto weight = field.find("weight")) operand.weight = weight->boolean();
  return operand;
}

// The sizes of outputs must be bound by inputs.
void check_outputs(const JsonField& field, const std::vector<Operand>& operands) {
  if (std::ranges::none_of(operands, &Operand::output)) {
    field.refuse("must have at least one output");
  }
  for (const Operand& output : operands) {
    for (const std::string& size : output.shape) {
      const bool known = std::ranges::any_of(operands, [&](const Operand& input) {
        return !input.output && (input.shape[0] == size || input.shape[1] == size);
      });
      if (!known) field.refuse(fmt::format("no input has the size {}", size));
    }
  }
}

std::vector<SizeRule> read_sizes(const JsonField& field, const Names& names) {
  std::vector<SizeRule> rules;
  for (const JsonField& item : checked_items(field)) {
    item.allow_only({"size", "least", "most", "multiple_of"});
    SizeRule rule;
    rule.size = names.size(item.at("size"));
    if (const auto least = item.find("least")) rule.least = least->integer();
    if (const auto most = item.find("most")) rule.most = most->integer(rule.least);
    if (const auto multiple = item.find("multiple_of")) rule.multiple_of = multiple->integer(1);
    rules.push_back(rule);
  }
  return rules;
}

// {"address": "x"}, {"row_stride": "x"}, {"int": "m"}, {"long": "m"}, {"zeros": 96},
// {"tensor_map": "x", "box": [128, 64]}
Argument read_argument(const JsonField& field, const Names& names) {
  Argument argument;
  if (const auto address = field.find("address")) {
    argument.operand = names.operand(*address);
  } else if (const auto stride = field.find("row_stride")) {
    argument.kind = Argument::Kind::kRowStride;
    argument.operand = names.operand(*stride);
  } else if (const auto number = field.find("int")) {
    argument.kind = Argument::Kind::kInt;
    argument.size = names.size(*number);
  } else if (const auto size = field.find("long")) {
    argument.kind = Argument::Kind::kLong;
    argument.size = names.size(*size);
  } else if (const auto map = field.find("tensor_map")) {
    argument.kind = Argument::Kind::kTensorMap;
    argument.operand = names.operand(*map);
    const auto box = field.at("box").items();
    if (box.size() != 2) field.at("box").refuse("must be [rows, columns]");
    argument.box_rows = box[0].integer(0, kMaxBox);
    argument.box_columns = box[1].integer(32, 64);
    if (argument.box_columns % 32 != 0) box[1].refuse("must be 32 or 64");
  } else if (const auto zeros = field.find("zeros")) {
    argument.kind = Argument::Kind::kZeros;
    argument.bytes = zeros->integer(1, kMaxZeros);
  } else {
    field.refuse("must have address, row_stride, int, long, tensor_map or zeros");
  }
  return argument;
}

Overlap read_overlap(const JsonField& field) {
  const std::string text = field.text();
  if (text == "no") return Overlap::kNo;
  if (text == "yes") return Overlap::kYes;
  if (text == "reads_weights") return Overlap::kReadsWeights;
  field.refuse("must be no, yes or reads_weights");
}

void read_launch_shape(const JsonField& field, Launch& launch) {
  const auto tile = field.at("tile").items();
  if (tile.size() != 2) field.at("tile").refuse("must be [rows, columns]");
  launch.tile = {tile[0].integer(1, kMaxTile), tile[1].integer(1, kMaxTile)};
  launch.threads = field.at("threads").integer(1, 1024);
  if (const auto bytes = field.find("shared_bytes"))
    launch.shared_bytes = bytes->integer(0, 1 << 20);
  if (const auto persistent = field.find("persistent")) launch.persistent = persistent->boolean();
  if (const auto flat = field.find("flat")) launch.flat = flat->boolean();
  if (const auto overlap = field.find("overlap")) launch.overlap = read_overlap(*overlap);
  if (const auto cost = field.find("wave_cost")) {
    launch.wave_cost = cost->real();
    if (!(launch.wave_cost > 0) || !std::isfinite(launch.wave_cost)) {
      cost->refuse("must be a number greater than 0");
    }
  }
}

Launch read_launch(const JsonField& field, const Names& names) {
  field.allow_only({"kernel", "dtype", "when", "align_bytes", "flat", "tile", "threads",
                    "shared_bytes", "persistent", "overlap", "wave_cost", "arguments"});
  Launch launch;
  launch.kernel = identifier(field.at("kernel"));
  launch.dtype = dtype(field.at("dtype"));
  if (const auto when = field.find("when")) launch.when = read_sizes(*when, names);
  if (const auto align = field.find("align_bytes")) launch.align_bytes = alignment(*align);
  read_launch_shape(field, launch);
  size_t bytes = 0;
  for (const JsonField& item : checked_items(field.at("arguments"))) {
    launch.arguments.push_back(read_argument(item, names));
    const auto kind = launch.arguments.back().kind;
    const bool needs_rows =
        kind == Argument::Kind::kTensorMap || kind == Argument::Kind::kRowStride;
    if (launch.flat && needs_rows)
      item.refuse("a flat launch cannot have row_stride or tensor_map");
    bytes += (argument_bytes(launch.arguments.back()) + kArgumentAlignment - 1) /
             kArgumentAlignment * kArgumentAlignment;
    if (bytes > kMaxArgumentBytes) item.refuse("the arguments exceed 4096 bytes");
  }
  return launch;
}

}  // namespace

size_t argument_bytes(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kInt:
      return 4;
    case Argument::Kind::kTensorMap:
      return 128;
    case Argument::Kind::kZeros:
      return static_cast<size_t>(argument.bytes);
    default:
      return 8;
  }
}

Export read_export(const JsonField& field) {
  field.allow_only(
      {"name", "dtypes", "operands", "sizes", "align_bytes", "deterministic", "flops", "launches"});
  Export result;
  result.name = identifier(field.at("name"));
  for (const JsonField& item : checked_items(field.at("dtypes")))
    result.dtypes.push_back(dtype(item));
  if (result.dtypes.empty()) field.at("dtypes").refuse("must have at least one entry");
  for (const JsonField& item : checked_items(field.at("operands"))) {
    Operand operand = read_operand(item);
    if (std::ranges::find(result.operands, operand.name, &Operand::name) != result.operands.end()) {
      item.refuse("duplicate operand name");
    }
    result.operands.push_back(std::move(operand));
  }
  check_outputs(field.at("operands"), result.operands);
  const Names names{result.operands};
  if (const auto sizes = field.find("sizes")) result.sizes = read_sizes(*sizes, names);
  if (const auto align = field.find("align_bytes")) result.align_bytes = alignment(*align);
  if (const auto same = field.find("deterministic")) result.deterministic = same->boolean();
  if (const auto flops = field.find("flops")) {
    result.flops = flops->at("times").integer(1, 1'000'000);
    for (const JsonField& item : checked_items(flops->at("sizes"))) {
      result.flops_sizes.push_back(names.size(item));
    }
  }
  if (const auto launches = field.find("launches")) {
    for (const JsonField& item : checked_items(*launches)) {
      result.launches.push_back(read_launch(item, names));
    }
  }
  return result;
}

}  // namespace epi::hub
