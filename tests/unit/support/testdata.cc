// SPDX-License-Identifier: Apache-2.0
#include "support/testdata.h"

namespace cnpa {

std::string TestdataFolder() {
  return CNPA_TESTDATA;
}

}  // namespace cnpa
