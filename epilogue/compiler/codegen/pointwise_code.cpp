// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/pointwise_code.h"

namespace epi::compiler {
namespace {

class PointwiseEmitter {
 public:
  PointwiseEmitter(const PointwiseCode& code, const Target& target)
      : code_(code), target_(target) {}

  std::string emit(const std::string& name) {
    out_.comment(fmt::format("{}: loop over %count elements, in vectors and then one by one",
                             operators_of(code_.program)));
    out_.begin_function("", name, "ptr %data, ptr %strides, i64 %as_compiled, i64 %count");
    const size_t operands = code_.outputs.size() + code_.inputs.size();
    for (size_t i = 0; i < operands; ++i) {
      out_.line("%data{0}.at = getelementptr ptr, ptr %data, i64 {0}", i);
      out_.line("%data{0} = load ptr, ptr %data{0}.at, align 8", i);
      out_.line("%stride{0}.at = getelementptr i64, ptr %strides, i64 {0}", i);
      out_.line("%stride{0} = load i64, ptr %stride{0}.at, align 8", i);
    }
    emit_loops();
    out_.end_function();
    return out_.text();
  }

 private:
  // Full vectors with the compiled strides, then single elements with the given strides.
  void emit_loops() {
    if (target_.is_arm()) out_.hoist_constants();
    out_.line("br label %vectors");
    out_.label("vectors");
    out_.line("%i = phi i64 [ 0, %entry ], [ %i.next, %vector ]");
    out_.line("%i.next = add i64 %i, {}", target_.lanes);
    out_.line("%i.fits = icmp sle i64 %i.next, %as_compiled");
    out_.line("br i1 %i.fits, label %vector, label %singles");
    out_.label("vector");
    emit_body(target_.lanes, "%i");
    out_.line("br label %vectors");
    out_.label("singles");
    out_.line("%j = phi i64 [ %i, %vectors ], [ %j.next, %single ]");
    out_.line("%j.fits = icmp slt i64 %j, %count");
    out_.line("br i1 %j.fits, label %single, label %done");
    out_.label("single");
    emit_body(1, "%j");
    out_.line("%j.next = add i64 %j, 1");
    out_.line("br label %singles");
    out_.label("done");
  }

  void emit_body(int lanes, const IrValue& index) {
    VectorCode vector(out_, target_, lanes);
    std::vector<IrValue> inputs;
    for (size_t i = 0; i < code_.inputs.size(); ++i) inputs.push_back(load(i, index, vector));
    const auto outputs = compiler::emit(code_.program, inputs, vector);
    for (size_t i = 0; i < outputs.size(); ++i) {
      vector.store(code_.outputs[i], outputs[i], address(i, code_.outputs[i], index));
    }
  }

  IrValue load(size_t i, const IrValue& index, VectorCode& vector) {
    const auto [dtype, along] = code_.inputs[i];
    const size_t operand = code_.outputs.size() + i;
    if (along == Along::kDense && vector.lanes() > 1) {
      return vector.load(dtype, address(operand, dtype, index));
    }
    if (along == Along::kBroadcast && vector.lanes() > 1) {
      return vector.load_splat(dtype, fmt::format("%data{}", operand));
    }
    const IrValue stride = fmt::format("%stride{}", operand);
    const IrValue offset = out_.let("mul i64 {}, {}", index, stride);
    return vector.load_strided(dtype, address(operand, dtype, offset), stride);
  }

  IrValue address(size_t operand, DType dtype, const IrValue& index) {
    return out_.let("getelementptr {}, ptr %data{}, i64 {}", VectorCode::stored_type(dtype),
                    operand, index);
  }

  const PointwiseCode& code_;
  const Target& target_;
  IrWriter out_;
};

}  // namespace

std::string emit_pointwise(const std::string& name, const PointwiseCode& code,
                           const Target& target) {
  return PointwiseEmitter(code, target).emit(name);
}

}  // namespace epi::compiler
