// SPDX-License-Identifier: Apache-2.0
// fmt 9 instantiates its whole formatter, which takes five seconds, in every source file that calls
// fmt::format_to. This header is precompiled (cmake/sources.cmake) and declares the instantiation
// in compiled_format.cpp. Later versions of fmt ship it in their library.
#pragma once

#include <fmt/format.h>

#if FMT_VERSION < 100000
extern template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                                   fmt::format_args, fmt::detail::locale_ref);
#endif
