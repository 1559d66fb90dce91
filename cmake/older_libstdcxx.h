// SPDX-License-Identifier: Apache-2.0
// Included before a source of the portable command. GCC 12 gave std::condition_variable::wait a new
// version (GLIBCXX_3.4.30), which RHEL 9 lacks. This selects the version that libraries since
// GCC 4.4 have.
__asm__(
    ".symver _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE,"
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
