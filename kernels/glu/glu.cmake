# SPDX-License-Identifier: Apache-2.0
# epilogue/glu: version 1 for the CPU (one variant per instruction set) and for CUDA, version 2 for Hopper.
set(glu_folder ${CMAKE_CURRENT_BINARY_DIR}/glu)
add_executable(glu_recipes glu/recipes.cpp)
target_link_libraries(glu_recipes PRIVATE epilogue)

set(cpu_recipe ${glu_folder}/v1-cpu.json)
add_custom_command(OUTPUT ${cpu_recipe} COMMAND glu_recipes v1-cpu ${cpu_recipe} DEPENDS glu_recipes VERBATIM)

function(epi_add_glu_library target isa)
  set(folder ${glu_folder}/${isa})
  add_library(glu_${isa} MODULE glu/glu.cpp)
  target_include_directories(glu_${isa} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(glu_${isa} SYSTEM PRIVATE ${EPI_DLPACK_INCLUDE})
  target_compile_definitions(glu_${isa} PRIVATE EPI_ISA=${isa})
  # The same options as for the loops of the CPU backend: epilogue/cpu/CMakeLists.txt.
  target_compile_options(glu_${isa} PRIVATE -O3 -ffp-contract=fast -fno-math-errno -fno-trapping-math ${ARGN})
  set_target_properties(glu_${isa} PROPERTIES OUTPUT_NAME glu LIBRARY_OUTPUT_DIRECTORY ${folder} CXX_VISIBILITY_PRESET hidden)
  epi_add_variant(epilogue/glu 1 abi1-cpu-${target}-linux ${cpu_recipe} ${folder} glu_${isa})
  set(stamps ${stamps} PARENT_SCOPE)
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  epi_add_glu_library(x86_64 baseline)
  epi_add_glu_library(x86_64.avx2 avx2 -mavx2 -mfma)
  epi_add_glu_library(x86_64.avx512 avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512)
else()
  epi_add_glu_library(aarch64.neon baseline)
endif()

if(EPI_HAS_CUDA)
  add_executable(glu_cubins glu/cubins.cpp)  # scripts/wheel_cuda runs it
  target_link_libraries(glu_cubins PRIVATE epilogue)
  set(cuda_recipe ${glu_folder}/v1-cuda.json)
  add_custom_command(OUTPUT ${cuda_recipe} COMMAND glu_recipes v1-cuda ${cuda_recipe} DEPENDS glu_recipes VERBATIM)
  foreach(target "sm90a;-cubin;-arch=sm_90a" "ptx80;-ptx;-arch=compute_80")
    list(GET target 0 name)
    list(SUBLIST target 1 2 flags)
    set(folder ${glu_folder}/${name})
    add_custom_command(OUTPUT ${folder}/glu.code
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${CMAKE_CUDA_COMPILER} ${flags} -std=c++17 -O3 -I ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/glu/glu.cu
              -o ${folder}/glu.code
      DEPENDS glu/glu.cu ${PROJECT_SOURCE_DIR}/epilogue/cuda/approximate.cuh ${PROJECT_SOURCE_DIR}/epilogue/cuda/primitives.cuh
              ${PROJECT_SOURCE_DIR}/epilogue/pointwise/functions.h VERBATIM)
    epi_add_variant(epilogue/glu 1 abi1-cu13-${name}-linux ${cuda_recipe} ${folder} ${folder}/glu.code)
  endforeach()
  set(folder ${glu_folder}/hopper)
  # glu_recipes rewrites only files that change, so an unchanged template is not compiled again.
  add_custom_command(OUTPUT ${folder}/v2.json ${folder}/glu.cu
    COMMAND glu_recipes v2 ${folder}/v2.json ${folder}/glu.cu DEPENDS glu_recipes VERBATIM)
  add_custom_command(OUTPUT ${folder}/glu.code
    COMMAND ${CMAKE_CUDA_COMPILER} -cubin -arch=sm_90a -std=c++17 ${folder}/glu.cu -o ${folder}/glu.code
    DEPENDS ${folder}/glu.cu VERBATIM)
  epi_add_variant(epilogue/glu 2 abi1-cu13-sm90a-linux ${folder}/v2.json ${folder} ${folder}/glu.code)
endif()
