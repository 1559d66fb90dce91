// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/library_step.h"

#include "epilogue/compiler/graph/library_call.h"

namespace epi::compiler {

void LibraryStep::run(const CallTensors& tensors) const {
  size_t next = 0;
  const auto tensor_of = [&](const ValueRef&) { return tensors.tensor(binding_.operands[next++]); };
  call_library(*binding_.node, tensor_of, binding_.symbols, tensors.tensor(binding_.out));
}

}  // namespace epi::compiler
