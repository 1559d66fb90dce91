# SPDX-License-Identifier: Apache-2.0
# The Debian packages, one for each component of cmake/install.cmake. scripts/package builds them. dpkg-shlibdeps finds
# the libraries that they depend on. Libraries that are loaded by name at run time are listed here.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "Epilogue <noreply@epilogue.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/compress_documents.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENTS_ALL)
set(this_version "(= ${PROJECT_VERSION})")
set(llvm)
if(LLVM_FOUND)
  set(llvm libllvm${LLVM_VERSION_MAJOR})
endif()
string(TIMESTAMP year "%Y" UTC)  # of SOURCE_DATE_EPOCH, if it is set
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)

# epi_add_package(COMPONENT NAME SECTION SUMMARY DESCRIPTION [LIBRARY NAME] [DEPENDS P...] [RECOMMENDS P...] [CONTAINS P...]
# [OVERRIDES TAG...]): LIBRARY is the shared library in it, without its version. CONTAINS lists the Debian packages whose
# code is in the files, as headers or static libraries: their licenses are added. OVERRIDES are for lintian.
macro(epi_add_package component name section summary description)
  cmake_parse_arguments(arg "" "LIBRARY" "DEPENDS;RECOMMENDS;CONTAINS;OVERRIDES" ${ARGN})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} key)
  string(REPLACE ";" ", " depends "${arg_DEPENDS}")
  string(REPLACE ";" ", " recommends "${arg_RECOMMENDS}")
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${key}_PACKAGE_RECOMMENDS "${recommends}")
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary}\n${description}")
  set(documents ${PROJECT_BINARY_DIR}/package_documents/${name})
  set(text "Epilogue, under the Apache License, Version 2.0.\n\nCopyright ${year} the Epilogue developers\n
On Debian systems, the license is in /usr/share/common-licenses/Apache-2.0.\n")
  foreach(package ${arg_CONTAINS})
    if(EXISTS /usr/share/doc/${package}/copyright)
      file(READ /usr/share/doc/${package}/copyright license)
      string(APPEND text "\n\nContains code of ${package}:\n\n${license}")
    endif()
  endforeach()
  file(WRITE ${documents}/copyright "${text}")
  file(WRITE ${documents}/changelog "epilogue (${PROJECT_VERSION}) unstable; urgency=medium\n
  * Version ${PROJECT_VERSION}. CHANGELOG.md in the sources lists the changes.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  install(FILES ${documents}/copyright ${documents}/changelog DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  if(NOT "${arg_OVERRIDES}" STREQUAL "")
    list(TRANSFORM arg_OVERRIDES PREPEND "${name}: ")
    list(JOIN arg_OVERRIDES "\n" lines)
    file(WRITE ${documents}/overrides "${lines}\n")
    install(FILES ${documents}/overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${name}
            COMPONENT ${component} EXCLUDE_FROM_ALL)
  endif()
  if(NOT "${arg_LIBRARY}" STREQUAL "")  # before 1.0, programs depend on the version that they were built for
    file(WRITE ${documents}/shlibs "${arg_LIBRARY} ${PROJECT_VERSION_MAJOR} ${name} ${this_version}\n")
    file(WRITE ${documents}/triggers "activate-noawait ldconfig\n")
    set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA ${documents}/shlibs ${documents}/triggers)
  endif()
endmacro()

set(inlined libfmt-dev libexpected-dev libdlpack-dev)
epi_add_package(command epilogue devel "trace analysis and a runtime for the MLP block of transformers"
  "The command reads traces of PyTorch's profiler, shows what limits a step and\nwhat would make it faster, compares runs and checks rules. It also runs MLP\nblocks: eagerly, compiled, and with the prebuilt kernels of this package."
  DEPENDS libopenblas0 ${llvm} CONTAINS ${inlined} libcli11-dev
  OVERRIDES "arch-dependent-file-in-usr-share *kernels*" "unstripped-binary-or-object *kernels*")  # signed packages of several targets
epi_add_package(library libepilogue${PROJECT_VERSION_MAJOR} libs "runtime for the MLP block of transformers - shared library"
  "Tensors, operators, modules, a compiler and a profiler for Linear and gated\nMLPs in C++. The package epilogue has its prebuilt kernels."
  LIBRARY libepilogue DEPENDS libopenblas0 RECOMMENDS ${llvm} epilogue CONTAINS ${inlined})
epi_add_package(development libepilogue-dev libdevel "runtime for the MLP block of transformers - development files"
  "Headers, static libraries, and files for CMake and pkg-config."
  DEPENDS "libepilogue${PROJECT_VERSION_MAJOR} ${this_version}" libfmt-dev libexpected-dev libdlpack-dev libsimdjson-dev libzstd-dev
          libisal-dev zlib1g-dev libsqlite3-dev libssl-dev libcpp-httplib-dev
  CONTAINS ${inlined})
epi_add_package(trace libepilogue-trace0 libs "reader of PyTorch profiler traces - shared library for C"
  "Reads and analyzes traces of PyTorch's profiler, for programs in C and for\nother languages."
  LIBRARY libepilogue_trace CONTAINS ${inlined} libcli11-dev libsqlite3-dev libzstd-dev libisal-dev zlib1g-dev
  OVERRIDES "embedded-library zlib *")  # also used by wheels, which may depend on the C++ library only
epi_add_package(trace_development libepilogue-trace-dev libdevel "reader of PyTorch profiler traces - development files"
  "The header of libepilogue-trace0, and a file for pkg-config."
  DEPENDS "libepilogue-trace0 ${this_version}")
foreach(key DEVELOPMENT TRACE_DEVELOPMENT)  # no programs
  set(CPACK_DEBIAN_${key}_PACKAGE_SHLIBDEPS OFF)
endforeach()
include(CPack)
