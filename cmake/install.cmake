# SPDX-License-Identifier: Apache-2.0
# Rules for `cmake --install`, including the files for find_package(epilogue) and pkg-config. Each rule has a component,
# which is a Debian package (cmake/packages.cmake). No installed file names the prefix, so the folder can be moved.
include(CMakePackageConfigHelpers)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/epilogue)

install(TARGETS epilogue epilogue_reader EXPORT epilogue-targets COMPONENT development)
# Debug information of the preset `dev` is three quarters of a static library.
if(CMAKE_STRIP)
  install(CODE "file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libepilogue*.a\")
execute_process(COMMAND ${CMAKE_STRIP} --strip-debug \${archives} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT development)
endif()
# Targets such as epilogue-cli alone build neither this library nor the C interface of the reader.
if(TARGET epilogue_shared)
  install(TARGETS epilogue_shared EXPORT epilogue-shared-targets LIBRARY COMPONENT library OPTIONAL NAMELINK_COMPONENT development)
  install(EXPORT epilogue-shared-targets NAMESPACE epilogue:: DESTINATION ${cmake_folder} COMPONENT development)
endif()
install(TARGETS epilogue_trace LIBRARY COMPONENT trace OPTIONAL NAMELINK_COMPONENT trace_development)
install(TARGETS epilogue-cli COMPONENT command)
install(CODE "file(CREATE_LINK epilogue \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/epi\" SYMBOLIC)" COMPONENT command)
if(NOT CMAKE_CROSSCOMPILING)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT command)
endif()

include(cmake/public_headers.cmake)
foreach(header ${EPI_PUBLIC_HEADERS})
  cmake_path(GET header PARENT_PATH folder)
  set(component development)
  if(header STREQUAL "trace.h")
    set(component trace_development)
  endif()
  install(FILES epilogue/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/epilogue/${folder} COMPONENT ${component})
endforeach()

install(EXPORT epilogue-targets NAMESPACE epilogue:: DESTINATION ${cmake_folder} COMPONENT development)
configure_package_config_file(cmake/epilogue-config.cmake.in ${PROJECT_BINARY_DIR}/epilogue-config.cmake
                              INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/epilogue-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/epilogue-config.cmake ${PROJECT_BINARY_DIR}/epilogue-config-version.cmake
        DESTINATION ${cmake_folder} COMPONENT development)

# epi_add_pc_file(NAME COMPONENT DESCRIPTION REQUIRES LIBS): one file for pkg-config.
function(epi_add_pc_file name component description requires libs)
  file(RELATIVE_PATH prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()
set(requires "fmt, simdjson, libzstd, libisal, zlib, sqlite3")
set(archives "\${libdir}/libepilogue_reader.a -pthread")
if(EPI_RUNTIME)
  string(APPEND requires ", libcrypto")
  set(archives "\${libdir}/libepilogue.a ${archives} -lcpp-httplib -ldl")
endif()
if(EPI_HAS_CUDA)
  string(APPEND archives " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
endif()
if(TARGET epilogue_shared)
  epi_add_pc_file(epilogue development "runtime and profiler for the MLP block of transformers" fmt "-L\${libdir} -lepilogue")
endif()
epi_add_pc_file(epilogue-static development "the static libraries of epilogue" "${requires}" "${archives}")
epi_add_pc_file(epilogue-trace trace_development "reads and analyzes PyTorch profiler traces, from C" "" "-L\${libdir} -lepilogue_trace")
