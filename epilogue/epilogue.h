// SPDX-License-Identifier: Apache-2.0
// Everything that a program with Epilogue usually needs: tensors, operators, modules and their
// weights, compiling, recording. Prebuilt kernels (hub/kernel.h), CUDA streams (cuda/stream.h) and
// the trace reader (trace/reader.h) have their own headers.
#pragma once

#include "epilogue/base/error.h"
#include "epilogue/base/result.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/nn/checkpoint.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/nn/linear.h"
#include "epilogue/nn/quantize.h"
#include "epilogue/nn/safetensors.h"
#include "epilogue/ops/functional.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/tensor/print.h"
#include "epilogue/tensor/tensor.h"
#include "epilogue/trace/writer.h"
#include "epilogue/version.h"
