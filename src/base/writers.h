// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cnpa {

/// Returns who, besides root and the user that this process runs as, can change what is read at `path`, with the way
/// out; "" when nobody can. Links are followed, and the folders above count too: who can write one of them can put
/// another file there. Not so where it is sticky, as /tmp is, and what lies in it is ours.
///
/// Source:  sshd_config(5), StrictModes.
std::string DescribeOtherWriters(const std::string& path);

}  // namespace cnpa
