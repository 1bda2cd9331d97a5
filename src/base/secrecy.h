// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cnpa {

/// Keeps the secrets that this process is about to read off the disk: no core file is written when it crashes, nor one
/// of a process that it forks, and libraries that log the keys of TLS where $SSLKEYLOGFILE says don't get to see it.
/// Others of the same user don't see into it any more, by /proc or a debugger.
///
/// Source:  PR_SET_DUMPABLE(2const); SSL_CTX_set_keylog_callback(3).
void KeepSecretsOffDisk();

}  // namespace cnpa
