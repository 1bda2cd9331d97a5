// SPDX-License-Identifier: Apache-2.0
//
// Debian has fmt as a shared library only; for the portable binary it is compiled in here, from fmt's own headers.
#include <fmt/format-inl.h>

// What fmt's library instantiates for those that include its headers.
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
