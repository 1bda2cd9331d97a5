// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cnpa {

/// Returns an environment variable, or nothing when it is not set or empty.
using Environment = std::function<std::optional<std::string>(const std::string&)>;

/// The process's own environment.
Environment ProcessEnvironment();

/// Returns all of it as "NAME=value", for a child.
std::vector<std::string> EnvironmentList();

/// Returns the environment that such a list describes.
Environment EnvironmentFrom(const std::vector<std::string>& list);

/// Returns the path of the program that runs; empty when nobody can tell.
std::string OwnPath();

/// Returns the name of this machine, or of this pod; "unknown" where it has none.
std::string HostName();

}  // namespace cnpa
