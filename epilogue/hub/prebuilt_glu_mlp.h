// SPDX-License-Identifier: Apache-2.0
// nn::GluMlp with kernels from a package: no compiler, no guards, any number of rows.
#pragma once

#include "epilogue/hub/kernel.h"
#include "epilogue/nn/glu_mlp.h"

namespace epi::hub {

class GluMlp : public nn::Module {
 public:
  // Shares the parameters of `mlp`, which must not be written to from now on. Throws `Error` if the
  // package has no such layer for its activation or does not support its biases.
  GluMlp(nn::GluMlp mlp, Kernels kernels);

  // x and the result are [..., dim]. Runs three GEMMs and a kernel, or two kernels.
  Tensor forward(const Tensor& x) const override;
  std::vector<nn::NamedParameter> parameters() override { return mlp_.parameters(); }

 private:
  nn::GluMlp mlp_;
  Kernels kernels_;
  Layer layer_;
};

}  // namespace epi::hub
