// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cnpa {

/// Keeps the secrets of this process, and of those that it forks, off the disk: no core file is written when it
/// crashes, and libraries that log the keys of TLS where $SSLKEYLOGFILE says don't get to see it. Comes first in
/// main().
///
/// Source:  PR_SET_DUMPABLE(2const); SSL_CTX_set_keylog_callback(3).
void KeepSecretsOffDisk();

}  // namespace cnpa
