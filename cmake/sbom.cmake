# SPDX-License-Identifier: Apache-2.0
# The software bill of materials (SPDX 2.3) of the program, made with each build and installed with the other files of
# share/. scripts/sbom finds the linked libraries itself; here are those that leave no trace in the program.
set(EPI_SBOM ${PROJECT_BINARY_DIR}/share/doc/epilogue/epilogue.spdx.json)
set(libraries included:CLI11:${CLI11_VERSION}:libcli11-dev included:tl-expected:${tl-expected_VERSION}:libexpected-dev)
if(EPI_RUNTIME)
  list(APPEND libraries included:dlpack::libdlpack-dev loaded:OpenBLAS::libopenblas0-pthread)
endif()
if(LLVM_FOUND)
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

# The same for the library of the reader, which contains most of its dependencies. `reader_package` builds all that wheels
# and release archives contain (scripts/wheel, scripts/release). The tests install it.
set(EPI_READER_SBOM ${PROJECT_BINARY_DIR}/portable/epilogue.spdx.json)
set(libraries included:CLI11:${CLI11_VERSION}:libcli11-dev included:tl-expected:${tl-expected_VERSION}:libexpected-dev
    included:libfmt:${fmt_VERSION}:libfmt-dev)
foreach(library sqlite3:libsqlite3-dev zstd:libzstd-dev isal:libisal-dev z:zlib1g-dev)
  string(REPLACE ":" ";" parts ${library})
  list(GET parts 0 name)
  list(GET parts 1 package)
  if(EPI_STATIC_${name} MATCHES "\\.a$")
    list(APPEND libraries included:lib${name}::${package})
  endif()
endforeach()
add_custom_command(OUTPUT ${EPI_READER_SBOM}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/portable
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/sbom $<TARGET_FILE:epilogue_trace> ${PROJECT_VERSION} ${libraries} > ${EPI_READER_SBOM}
  DEPENDS epilogue_trace ${PROJECT_SOURCE_DIR}/scripts/sbom VERBATIM
  COMMENT "Writing the bill of materials of the reader")
set(all)
if(EPI_HAS_TESTS AND NOT EPI_SANITIZE)
  set(all ALL)
endif()
add_custom_target(reader_package ${all} DEPENDS epilogue_trace epilogue-portable ${EPI_READER_SBOM})

# The same for the library with the PyTorch operator, with its code for Hopper (scripts/wheel_cuda).
if(EPI_HAS_CUDA)
  set(folder ${PROJECT_BINARY_DIR}/cuda_package)
  add_custom_command(OUTPUT ${folder}/epilogue-cuda.spdx.json
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/sbom $<TARGET_FILE:epilogue_glu> ${PROJECT_VERSION}
            included:cudart:${CUDAToolkit_VERSION}: included:tl-expected:${tl-expected_VERSION}:libexpected-dev
            included:libfmt:${fmt_VERSION}:libfmt-dev loaded:nvrtc:${CUDAToolkit_VERSION}: loaded:cublasLt:: > ${folder}/epilogue-cuda.spdx.json
    DEPENDS epilogue_glu ${PROJECT_SOURCE_DIR}/scripts/sbom VERBATIM
    COMMENT "Writing the bill of materials of the PyTorch operator")
  add_custom_command(OUTPUT ${folder}/cubins.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}/cubins
    COMMAND glu_cubins ${folder}/cubins
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/cubins.stamp
    DEPENDS glu_cubins VERBATIM COMMENT "Compiling the code of the PyTorch operator")
  add_custom_target(cuda_package ${all} DEPENDS epilogue_glu ${folder}/epilogue-cuda.spdx.json ${folder}/cubins.stamp)
endif()
