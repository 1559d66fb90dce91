// SPDX-License-Identifier: Apache-2.0
// Formats numbers for people: three or four digits and a unit. Prefixes are decimal (1 kB is 1000
// B), as in the bandwidth figures of vendors.
#pragma once

#include <cstdint>
#include <string>

namespace epi::report {

// "640 B", "151.0 MB".
std::string bytes_text(double bytes);
// "68 FLOP", "115.9 GFLOP".
std::string flops_text(double flops);
// "850 ns", "12.40 us", "462.1 ms", "1.500 s".
std::string time_text(double nanoseconds);
// The difference of two times: "+12.40 us", "-850 ns".
std::string difference_text(double nanoseconds);
// A number that may end in .5, such as a median of counts: "5", "4.5".
std::string count_text(double count);
// Four digits without a unit: "1.500", "12.40", "462.1".
std::string four_digits(double value);
// Bytes per nanosecond as "517.8 GB/s", "2.005 TB/s".
std::string bandwidth_text(double bytes_per_ns);
// "1 kernel", "5 kernels", "4.5 kernels". An irregular noun is split: plural(n, "cop", "ies", "y").
std::string plural(double count, const char* stem, const char* ending = "s",
                   const char* singular_ending = "");

}  // namespace epi::report
