# SPDX-License-Identifier: Apache-2.0
# Rules for `cmake --install`, including the package files for find_package(epilogue).
include(CMakePackageConfigHelpers)

install(TARGETS epilogue epilogue_reader EXPORT epilogue-targets)
install(TARGETS epilogue-cli)
# The C interface of the reader. Targets such as epilogue-cli alone do not build it.
install(TARGETS epilogue_trace OPTIONAL)
if(NOT CMAKE_CROSSCOMPILING)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
install(CODE "file(CREATE_LINK epilogue \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/epi\" SYMBOLIC)")
include(cmake/public_headers.cmake)
foreach(header ${EPI_PUBLIC_HEADERS})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES epilogue/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/epilogue/${folder})
endforeach()
install(EXPORT epilogue-targets NAMESPACE epilogue:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/epilogue)

configure_package_config_file(cmake/epilogue-config.cmake.in ${PROJECT_BINARY_DIR}/epilogue-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/epilogue)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/epilogue-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/epilogue-config.cmake ${PROJECT_BINARY_DIR}/epilogue-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/epilogue)
