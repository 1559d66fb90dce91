# SPDX-License-Identifier: Apache-2.0
# How parts add their sources, and what every C++ target shares.

# Adds all sources of the current folder to `target`, but for those named after EXCEPT.
function(epi_add_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  list(REMOVE_ITEM sources ${arg_EXCEPT} "")
  target_sources(${target} PRIVATE ${sources})
endfunction()

# The headers that most sources include take longer to parse than the sources themselves.
function(epi_precompile_headers target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <filesystem> <functional> <map> <memory> <mutex> <optional>
                            <set> <span> <string> <string_view> <unordered_map> <vector> <tl/expected.hpp>
                            "${PROJECT_SOURCE_DIR}/epilogue/base/compiled_format.h" ${ARGN})
endfunction()

# For targets that spend their time elsewhere (the command in the library, the library in the loops
# of cpu/loops and in generated code): -O1 is compiled in 70 % of the time of -O2, -O0 in half of it.
# In the preset dev; what is measured has -O2 or -O3 throughout.
option(EPI_COMPILE_QUICKLY "Optimise less where it hardly shows" OFF)
function(epi_compile_quickly target level)
  if(EPI_COMPILE_QUICKLY)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${level}>)
  endif()
endfunction()
