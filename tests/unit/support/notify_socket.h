// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "support/temp_folder.h"

namespace cnpa {

/// What a service manager listens on.
class NotifySocket {
 public:
  enum class Kind { kPath, kAbstract };

  explicit NotifySocket(Kind kind = Kind::kPath)
      : name_((kind == Kind::kAbstract ? "@" : "") + folder_.Path("notify")),
        fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(&address.sun_path, name_.data(), name_.size());
    if (kind == Kind::kAbstract) address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) std::abort();
  }

  const std::string& name() const { return name_; }

  /// Returns what has come, a string a datagram.
  std::vector<std::string> Received() const {
    std::vector<std::string> datagrams;
    std::array<char, 4096> buffer{};
    ssize_t size = 0;
    while ((size = ::recv(fd_.get(), buffer.data(), buffer.size(), 0)) >= 0) {
      datagrams.emplace_back(buffer.data(), static_cast<std::size_t>(size));
    }
    return datagrams;
  }

 private:
  TempFolder folder_;
  std::string name_;
  UniqueFd fd_;
};

}  // namespace cnpa
