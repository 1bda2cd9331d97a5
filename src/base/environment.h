// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

/// Where systemd looks for a program that is given by its name.
inline constexpr std::array<std::string_view, 6> kProgramFolders{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
                                                                 "/usr/bin",        "/sbin",          "/bin"};

/// Returns the path of the program that runs, in one of kProgramFolders if that leads to it; empty when nobody can
/// tell.
std::string OwnPath();

/// Returns the name of this machine, or of this pod; "unknown" where it has none.
std::string HostName();

}  // namespace cnpa
