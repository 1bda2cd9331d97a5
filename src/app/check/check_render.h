// SPDX-License-Identifier: Apache-2.0
//
// The words of `cnpa-op check`: one line a check for people, one document for machines.
#pragma once

#include <string>
#include <vector>

#include "app/check/check.h"
#include "app/output/layout.h"

namespace cnpa {

/// Returns "FAIL  rights       namespaces: missing create (granted: list, watch, patch): cnpa-op rbac | kubectl apply
/// -f -". On a terminal that is too narrow for it these are several lines, and the remedy begins one.
std::vector<std::string> CheckLines(const Check& check, const ViewForm& form);

/// Returns "Ready.", or how much is in the way.
std::string CheckSummary(const std::vector<Check>& checks);

/// Returns the same as one JSON document.
std::string CheckDocument(const std::vector<Check>& checks);

}  // namespace cnpa
