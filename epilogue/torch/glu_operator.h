// SPDX-License-Identifier: Apache-2.0
/* What python/epilogue/torch calls in libepilogue_glu.so, besides epilogue/glu.h. */
#pragma once

#include "epilogue/glu.h"

extern "C" {

/* Registers the CUDA kernel of epilogue::glu_mlp and epilogue::glu_mlp_forward with the PyTorch of
 * this process. Returns an empty string, or why this is not possible. */
const char* epi_torch_register(void);

/* Generates or loads the code of such blocks. Returns an empty string, or why the kernels do not
 * apply to them. */
const char* epi_torch_prepare(const epi_glu_block* block);
}
