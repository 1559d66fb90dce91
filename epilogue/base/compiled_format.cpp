// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/compiled_format.h"

#if FMT_VERSION < 100000
template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                            fmt::format_args, fmt::detail::locale_ref);
#endif
