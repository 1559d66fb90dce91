# SPDX-License-Identifier: Apache-2.0
# The public headers, installed by `cmake --install` (docs/library.md). Each compiles on its own
# (tests/install/consumer). All other headers are internal and may change.
set(EPI_PUBLIC_HEADERS
  trace.h
  base/error.h base/result.h
  trace/category.h trace/defects.h trace/links.h trace/op_tree.h trace/read_progress.h trace/reader.h trace/trace.h trace/writer.h
  analysis/pytorch/profiler_table.h analysis/pytorch/pytorch_memory.h report/tables/table_text.h)
if(EPI_RUNTIME)
  list(APPEND EPI_PUBLIC_HEADERS
    epilogue.h glu.h kernel_abi.h version.h
    base/clock.h base/mapped_file.h base/thread_pool.h
    pointwise/operators.def
    tensor/cpu_allocator.h tensor/device.h tensor/device_memory.h tensor/dims.h tensor/dlpack.h tensor/dtype.h tensor/dtype_enum.h
    tensor/factories.h tensor/layout.h tensor/print.h tensor/storage.h tensor/tensor.h
    ops/args.h ops/custom_op.h ops/dispatch.h ops/functional.h ops/hooks.h ops/op.h
    cpu/cpu_backend.h
    cuda/allocator.h cuda/cuda_backend.h cuda/cuda_device.h cuda/pinned.h cuda/stream.h cuda/tf32.h
    nn/checkpoint.h nn/glu_mlp.h nn/linear.h nn/module.h nn/quantize.h nn/safetensors.h
    compiler/compile.h compiler/compile_options.h compiler/tensor_function.h
    hub/hub.h hub/kernel.h hub/keys.h hub/lock.h hub/manifest.h hub/prebuilt_glu_mlp.h hub/seen.h hub/source.h hub/trust.h hub/variant.h hub/weights.h
    profile/profiler.h profile/step_span.h)
endif()
