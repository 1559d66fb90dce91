// SPDX-License-Identifier: Apache-2.0
// fmt 9 compiles its whole formatter, which takes five seconds, in every source that calls
// fmt::format_to. This header, precompiled (cmake/sources.cmake), leaves that to
// compiled_format.cpp. Later versions have the function in their library.
#pragma once

#include <fmt/format.h>

#if FMT_VERSION < 100000
extern template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                                   fmt::format_args, fmt::detail::locale_ref);
#endif
