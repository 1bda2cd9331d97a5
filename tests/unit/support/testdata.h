// SPDX-License-Identifier: Apache-2.0
//
// Where the tests' files are. The path of the checkout is compiled into one file only, so that a compiler cache serves
// the others in every checkout.
#pragma once

#include <string>

namespace cnpa {

/// Returns the folder tests/unit/testdata of the sources that this program was built from.
std::string TestdataFolder();

}  // namespace cnpa
