# SPDX-License-Identifier: Apache-2.0
# Functions that parts use to add sources, and settings shared by C++ targets.

# Adds all sources of the current folder to `target`, except those listed after EXCEPT.
function(epi_add_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  list(REMOVE_ITEM sources ${arg_EXCEPT} "")
  target_sources(${target} PRIVATE ${sources})
endfunction()

# Precompiles the headers that most sources include: they take longer to parse than the sources themselves.
function(epi_precompile_headers target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <filesystem> <functional> <map> <memory> <mutex> <optional>
                            <set> <span> <string> <string_view> <unordered_map> <vector> <tl/expected.hpp>
                            "${PROJECT_SOURCE_DIR}/epilogue/base/compiled_format.h" ${ARGN})
endfunction()

# For targets whose own code is not performance-critical: the command spends its time in the library, and the
# library in cpu/loops and in generated code. -O1 compiles in 70 % of the time of -O2, -O0 in half of it.
# Used by the preset dev. Builds for measurements use -O2 or -O3 throughout.
option(EPI_COMPILE_QUICKLY "Optimise code that is not performance-critical less" OFF)
function(epi_compile_quickly target level)
  if(EPI_COMPILE_QUICKLY)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${level}>)
    if(level STREQUAL "-O0")  # the checks of glibc need an optimizing compiler
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-U_FORTIFY_SOURCE>)
    endif()
  endif()
endfunction()

# Links static targets of the project and the libraries that they use, preferring static libraries. The result needs
# only the C and C++ libraries, simdjson and ISA-L.
function(epi_link_statically target)
  set(files)
  foreach(part ${ARGN})
    list(APPEND files $<TARGET_FILE:${part}>)
    add_dependencies(${target} ${part})
  endforeach()
  foreach(library sqlite3 zstd isal z)
    find_library(EPI_STATIC_${library} NAMES lib${library}.a ${library})
    list(APPEND files ${EPI_STATIC_${library}})
  endforeach()
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/epilogue/c/fmt_library.cpp)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/epilogue/c/fmt_library.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_link_libraries(${target} PRIVATE ${files} simdjson::simdjson Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE LINKER:--as-needed)
endfunction()
