# SPDX-License-Identifier: Apache-2.0
# `cmake --install`, and what find_package(epilogue) reads afterwards.
include(CMakePackageConfigHelpers)

install(TARGETS epilogue epilogue_reader EXPORT epilogue-targets)
install(TARGETS epilogue-cli)
install(CODE "file(CREATE_LINK epilogue \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/epi\" SYMBOLIC)")
install(DIRECTORY epilogue/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/epilogue
        FILES_MATCHING PATTERN "*.h" PATTERN "cli" EXCLUDE PATTERN "cpu" EXCLUDE PATTERN "cuda" EXCLUDE
        PATTERN "ops/results.h" EXCLUDE PATTERN "ops/checks.h" EXCLUDE)
if(EPI_RUNTIME)
  install(FILES epilogue/cpu/cpu_backend.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/epilogue/cpu)
  install(FILES epilogue/cuda/allocator.h epilogue/cuda/cuda_backend.h epilogue/cuda/cuda_device.h epilogue/cuda/pinned.h
                epilogue/cuda/stream.h epilogue/cuda/tf32.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/epilogue/cuda)
endif()
install(EXPORT epilogue-targets NAMESPACE epilogue:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/epilogue)

configure_package_config_file(cmake/epilogue-config.cmake.in ${PROJECT_BINARY_DIR}/epilogue-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/epilogue)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/epilogue-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/epilogue-config.cmake ${PROJECT_BINARY_DIR}/epilogue-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/epilogue)
