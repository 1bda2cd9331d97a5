// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cnpa {

/// Gives back what starting up needed and running does not: free heap, and pages of programs and libraries that are
/// as they are on disk. What is needed after all is read again. For a process that is about to do little for long.
///
/// Source:  madvise(2), MADV_DONTNEED; proc_pid_smaps(5); malloc_trim(3).
void ReleaseStartupMemory();

}  // namespace cnpa
