// SPDX-License-Identifier: Apache-2.0
#include "base/service_manager.h"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/text.h"

namespace cnpa {
namespace {

std::optional<long> ToNumber(const std::optional<std::string>& text) {
  long number = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return number;
}

constexpr std::size_t kLongestStatus = 1024;

}  // namespace

std::string StatusAssignment(std::string_view words) {
  return "STATUS=" + OneLine(words, kLongestStatus);
}

ServiceManager ServiceManager::Find(const Environment& environment, long pid) {
  ServiceManager manager;
  const std::string address = environment("NOTIFY_SOCKET").value_or("");
  // An abstract socket has a name for a path; others, such as vsock, are for virtual machines.
  if ((address.starts_with('/') || address.starts_with('@')) && address.size() < sizeof(sockaddr_un::sun_path)) {
    manager.address_ = address;
    if (address.starts_with('@')) manager.address_.front() = '\0';
    manager.socket_ = UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  }
  const std::optional<long> span = ToNumber(environment("WATCHDOG_USEC"));
  const std::optional<long> meant = ToNumber(environment("WATCHDOG_PID"));
  if (span && *span > 0 && (!meant || *meant == pid)) manager.watchdog_ = std::chrono::microseconds(*span);
  return manager;
}

bool ServiceManager::Notify(const std::string& assignments) const {
  if (!present()) return true;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(&address.sun_path, address_.data(), address_.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  // sendto() takes every kind of address by a pointer to their common head.
  const auto* head =
      reinterpret_cast<const sockaddr*>(&address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  const ssize_t sent =
      ::sendto(socket_.get(), assignments.data(), assignments.size(), MSG_NOSIGNAL | MSG_DONTWAIT, head, size);
  return sent >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace cnpa
