// SPDX-License-Identifier: Apache-2.0
// A step that runs the eager kernel of an operator through the dispatcher.
#pragma once

#include <utility>

#include "epilogue/compiler/plan/plan_backend.h"

namespace epi::compiler {

class LibraryStep : public BoundStep {
 public:
  explicit LibraryStep(LibraryBinding binding) : binding_(std::move(binding)) {}
  void run(const CallTensors& tensors) const override;

 protected:
  const LibraryBinding& binding() const { return binding_; }

 private:
  LibraryBinding binding_;
};

}  // namespace epi::compiler
