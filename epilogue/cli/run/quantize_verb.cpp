// SPDX-License-Identifier: Apache-2.0
// `epilogue quantize`: writes a checkpoint with int8 weights, and prints the error of each layer.
#include <memory>
#include <set>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/join.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/progress.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/checkpoint.h"
#include "epilogue/nn/quantize.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/units.h"
#include "epilogue/verbs/output_rules.h"

namespace epi::cli {
namespace {

constexpr size_t kWidth = 80;

struct QuantizeFlags {
  std::string weights;
  std::string output;
  std::vector<std::string> layers;  // empty: those of a gated MLP
  bool rows = false;
  bool json = false;
};

struct QuantizedTensor {
  std::string name;
  Dims shape;
  nn::Int8Error error;
};

struct Quantized {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::vector<QuantizedTensor> weights;
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
};

// The weights of a layer: "model.layers.0.mlp.up_proj.weight" is one of "up_proj".
std::vector<std::string> weights_of(const nn::Checkpoint& checkpoint, const std::string& layer) {
  const std::string suffix = layer + ".weight";
  std::vector<std::string> found;
  for (const std::string& name : checkpoint.names()) {
    if (name == suffix || name.ends_with("." + suffix)) found.push_back(name);
  }
  return found;
}

// The names of the weights to quantize. Throws if there is none, or one that cannot be quantized.
std::set<std::string> select(const nn::Checkpoint& checkpoint, const QuantizeFlags& flags) {
  const bool by_default = flags.layers.empty();
  const std::vector<std::string> layers =
      by_default ? std::vector<std::string>{"gate_proj", "up_proj", "down_proj"} : flags.layers;
  std::set<std::string> selected;
  for (const std::string& layer : layers) {
    const auto found = weights_of(checkpoint, layer);
    if (found.empty() && !by_default) {
      fail("quantize", "{}: no tensor is named {}.weight", checkpoint.path(), layer);
    }
    selected.insert(found.begin(), found.end());
  }
  if (selected.empty()) {
    fail("quantize", "{}: no tensor is named {}.weight: choose layers with --layer",
         checkpoint.path(), join(layers, ".weight, "));
  }
  for (const std::string& name : selected) {
    const auto tensor = checkpoint.tensor(name);
    throw_if_failed(tensor);
    if (tensor->dim() != 2 || !is_floating(tensor->dtype())) {
      fail("quantize", "{}: tensor \"{}\" is {} {}, not a floating-point matrix", checkpoint.path(),
           name, epi::name(tensor->dtype()), to_string(tensor->shape()));
    }
    if (checkpoint.contains(name + "_scale")) {
      fail("quantize", "{}: there is a tensor \"{}_scale\" already", checkpoint.path(), name);
    }
  }
  return selected;
}

Quantized quantize_checkpoint(const nn::Checkpoint& checkpoint, const QuantizeFlags& flags) {
  const auto selected = select(checkpoint, flags);
  Quantized result;
  Progress progress;
  for (const std::string& name : checkpoint.names()) {
    const auto tensor = checkpoint.tensor(name);
    throw_if_failed(tensor);
    result.bytes_before += tensor->size_bytes();
    if (!selected.contains(name)) {
      result.bytes_after += tensor->size_bytes();
      result.tensors.emplace_back(name, *tensor);
      continue;
    }
    progress.show("weight", result.weights.size() + 1);
    const std::string place = fmt::format("{}: tensor \"{}\"", checkpoint.path(), name);
    const nn::Int8Weight quantized = nn::quantize_weight(*tensor, !flags.rows, place);
    result.weights.push_back({name, tensor->shape(), nn::measure_int8_error(*tensor, quantized)});
    result.bytes_after += quantized.weight.size_bytes() + quantized.scale.size_bytes();
    result.tensors.emplace_back(name, quantized.weight);
    result.tensors.emplace_back(name + "_scale", quantized.scale);
  }
  return result;
}

void print_text(const QuantizeFlags& flags, const Quantized& result) {
  report::Table table({{"weight"},
                       {"shape"},
                       {"float input", report::Align::kRight},
                       {"int8 input", report::Align::kRight}});
  for (const QuantizedTensor& weight : result.weights) {
    table.add_row({weight.name, to_string(weight.shape),
                   fmt::format("{:.2f} %", 100 * weight.error.float_input),
                   fmt::format("{:.2f} %", 100 * weight.error.int8_input)});
  }
  print_out("{}: {} of {} tensors as int8, one scale per {}\n{} -> {}\n\n{}\n", flags.output,
            result.weights.size(), result.tensors.size() - result.weights.size(),
            flags.rows ? "row" : "32 weights",
            report::bytes_text(static_cast<double>(result.bytes_before)),
            report::bytes_text(static_cast<double>(result.bytes_after)),
            table.text(kWidth, report::Table::Cut::kMiddle));
  print_out(
      "Error of x @ weight.t() for normally distributed x, relative to the result (root\n"
      "mean square): float input with x as it is, int8 input with x also quantized.\n");
}

void print_json(const QuantizeFlags& flags, const Quantized& result) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1);
  json.key("weights").string(flags.weights).key("output").string(flags.output);
  json.key("scales").string(flags.rows ? "rows" : "groups");
  json.key("bytes_before").integer(result.bytes_before);
  json.key("bytes_after").integer(result.bytes_after);
  json.key("quantized").begin_array();
  for (const QuantizedTensor& weight : result.weights) {
    json.begin_object().key("name").string(weight.name).key("shape").begin_array();
    for (const int64_t size : weight.shape) json.integer(size);
    json.end_array();
    json.key("error_float_input").fixed(weight.error.float_input, 6);
    json.key("error_int8_input").fixed(weight.error.int8_input, 6);
    json.end_object();
  }
  json.end_array().end_object();
  print_out("{}\n", json.text());
}

int run(const QuantizeFlags& flags) {
  register_cpu_backend();
  const auto checkpoint = nn::Checkpoint::open(flags.weights);
  throw_if_failed(checkpoint);
  verbs::refuse_input_as_output("quantize", "--output", flags.output, checkpoint->files());
  const Quantized result = quantize_checkpoint(*checkpoint, flags);
  // Readers such as transformers require the format.
  throw_if_failed(nn::save_safetensors(flags.output, result.tensors, {{"format", "pt"}}));
  flags.json ? print_json(flags, result) : print_text(flags, result);
  return kDone;
}

}  // namespace

void add_quantize(Command& verb) {
  auto flags = std::make_shared<QuantizeFlags>();
  verb.add("weights", flags->weights, "A .safetensors file, its index, or a folder")
      .value_name("WEIGHTS")
      .required()
      .not_empty("a file or a folder is needed");
  verb.add("-o,--output", flags->output, "The .safetensors file to write")
      .value_name("FILE")
      .required()
      .not_empty("a file is needed");
  verb.add("--layer", flags->layers,
           "Quantize the layers of this name (gate_proj, up_proj, down_proj)")
      .value_name("NAME")
      .repeatable();
  verb.add("--rows", flags->rows, "One scale per row instead of one per 32 weights");
  verb.add("--json", flags->json, "One JSON object on standard output");
  verb.footer(
      "A weight becomes integers from -127 to 127 under its name (I8) and their\n"
      "scales under its name with _scale added. `epilogue run mlp --weights` and\n"
      "nn::GluMlp::from load them. All other tensors are copied.");
  verb.run([flags] { return run(*flags); });
}

}  // namespace epi::cli
