// SPDX-License-Identifier: Apache-2.0
//
// The words of `cnpa-op check`: one line a check for people, one document for machines.
#pragma once

#include <string>
#include <vector>

#include "app/check.h"

namespace cnpa {

/// Returns "FAIL  rights       namespaces: lacks create; has list, patch: cnpa-op rbac | kubectl apply -f -". With
/// `color` the mark is coloured.
std::string CheckLine(const Check& check, bool color);

/// Returns "It can work here.", or how much is in the way.
std::string CheckSummary(const std::vector<Check>& checks);

/// Returns the same as one JSON document.
std::string CheckDocument(const std::vector<Check>& checks);

}  // namespace cnpa
