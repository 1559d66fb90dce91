# SPDX-License-Identifier: Apache-2.0
# Compile and link flags that turn memory errors into a controlled stop: stack protector, checked libc calls,
# read-only relocations and control-flow protection. A flag that the compiler does not accept is left out. Files that
# nvcc compiles keep its flags: their host code only launches kernels.
# tests/install/hardening checks the result in the linked program.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

# Executables are position-independent, so that their address differs in each run.
check_pie_supported(LANGUAGES CXX)

macro(epi_add_compile_flag_if_known flag known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${flag}>")
  endif()
endmacro()

epi_add_compile_flag_if_known(-fstack-protector-strong EPI_HAS_STACK_PROTECTOR)
epi_add_compile_flag_if_known(-fstack-clash-protection EPI_HAS_STACK_CLASH)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  epi_add_compile_flag_if_known(-fcf-protection=full EPI_HAS_FLOW_PROTECTION)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  epi_add_compile_flag_if_known(-mbranch-protection=standard EPI_HAS_FLOW_PROTECTION)
endif()
# Sanitizers replace the checked functions with their own. Without optimization glibc cannot check, and warns.
if(NOT EPI_SANITIZE)
  add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<NOT:$<CONFIG:Debug>>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>")
endif()
add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
