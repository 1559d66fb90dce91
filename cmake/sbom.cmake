# SPDX-License-Identifier: Apache-2.0
# The software bill of materials (SPDX 2.3) of the program, made with each build and installed with the other files of
# share/. scripts/sbom finds the linked libraries itself; here are those that leave no trace in the program.
set(EPI_SBOM ${PROJECT_BINARY_DIR}/share/doc/epilogue/epilogue.spdx.json)
set(libraries included:CLI11:${CLI11_VERSION}:libcli11-dev included:tl-expected:${tl-expected_VERSION}:libexpected-dev)
if(EPI_RUNTIME)
  list(APPEND libraries included:dlpack::libdlpack-dev loaded:OpenBLAS::libopenblas0-pthread)
endif()
if(EPI_HAS_CPU_JIT)
  list(APPEND libraries loaded:LLVM:${LLVM_PACKAGE_VERSION}:libllvm${LLVM_VERSION_MAJOR})
endif()
if(EPI_HAS_CUDA)
  list(APPEND libraries included:cudart:${CUDAToolkit_VERSION}: loaded:nvrtc:${CUDAToolkit_VERSION}:)
endif()
cmake_path(GET EPI_SBOM PARENT_PATH folder)
add_custom_command(OUTPUT ${EPI_SBOM}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/sbom $<TARGET_FILE:epilogue-cli> ${PROJECT_VERSION} ${libraries} > ${EPI_SBOM}
  DEPENDS epilogue-cli ${PROJECT_SOURCE_DIR}/scripts/sbom VERBATIM
  COMMENT "Writing the bill of materials")
add_custom_target(sbom ALL DEPENDS ${EPI_SBOM})
