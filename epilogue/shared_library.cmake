# SPDX-License-Identifier: Apache-2.0
# libepilogue.so: the objects of the two static libraries, linked once more. It exports what public headers declare
# (scripts/exports). Before 1.0 a minor version may change the C++ interface, so the version of the symbols has it too: a
# program that was built for another one does not start.
set(exports ${PROJECT_BINARY_DIR}/epilogue/exports.map)
include(${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake)
list(TRANSFORM EPI_PUBLIC_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE headers)
list(JOIN headers "\n" header_lines)
file(CONFIGURE OUTPUT public_headers.txt CONTENT "${header_lines}\n" @ONLY)
add_custom_command(OUTPUT ${exports}
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/exports EPILOGUE_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
          ${CMAKE_CURRENT_BINARY_DIR}/public_headers.txt $<TARGET_FILE:epilogue> $<TARGET_FILE:epilogue_reader> > ${exports}
  DEPENDS epilogue epilogue_reader ${headers} ${PROJECT_SOURCE_DIR}/scripts/exports VERBATIM
  COMMENT "Listing the symbols of libepilogue.so")
add_custom_target(epilogue_exports DEPENDS ${exports})

file(CONFIGURE OUTPUT empty.cpp CONTENT "")  # CMake needs a source
add_library(epilogue_shared SHARED ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
add_library(epilogue::shared ALIAS epilogue_shared)
add_dependencies(epilogue_shared epilogue_exports)
set_target_properties(epilogue_shared PROPERTIES
  OUTPUT_NAME epilogue EXPORT_NAME shared VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib BUILD_WITH_INSTALL_RPATH ON LINK_DEPENDS ${exports})
target_compile_features(epilogue_shared INTERFACE cxx_std_20)
target_include_directories(epilogue_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${EPI_DLPACK_INCLUDE}>
                                                     $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(epilogue_shared INTERFACE fmt::fmt tl::expected Threads::Threads
  PRIVATE $<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,epilogue,epilogue_reader>>)
set_target_properties(epilogue_shared PROPERTIES LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,epilogue,epilogue_reader")
# nodelete: the worker threads run until the process ends.
target_link_options(epilogue_shared PRIVATE LINKER:-z,nodelete LINKER:--no-undefined LINKER:--as-needed LINKER:--version-script=${exports})
