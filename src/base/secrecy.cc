// SPDX-License-Identifier: Apache-2.0
#include "base/secrecy.h"

#include <cstdlib>
#include <sys/prctl.h>

namespace cnpa {

void KeepSecretsOffDisk() {
  ::prctl(PR_SET_DUMPABLE, 0);
  ::unsetenv("SSLKEYLOGFILE");
}

}  // namespace cnpa
