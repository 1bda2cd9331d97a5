// SPDX-License-Identifier: Apache-2.0
#include "base/service_manager.h"

#include <map>

#include "support/catch.h"
#include "support/notify_socket.h"

namespace cnpa {
namespace {

Environment Variables(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST_CASE("ServiceManager sends to the socket that the environment names", "[base][service_manager]") {
  for (const NotifySocket::Kind kind : {NotifySocket::Kind::kPath, NotifySocket::Kind::kAbstract}) {
    NotifySocket socket(kind);
    const ServiceManager manager = ServiceManager::Find(Variables({{"NOTIFY_SOCKET", socket.name()}}), 7);
    REQUIRE(manager.present());
    manager.Notify("READY=1\nSTATUS=at work");
    CHECK(socket.Received() == std::vector<std::string>{"READY=1\nSTATUS=at work"});
  }
}

TEST_CASE("StatusAssignment is one that a manager takes, whatever the words are", "[base][service_manager]") {
  CHECK(StatusAssignment("5 team spaces in sync") == "STATUS=5 team spaces in sync");
  CHECK(StatusAssignment("f\xfcr\nREADY=1 \x1b]0;x\u009b") == "STATUS=f\uFFFDr READY=1  ]0;x");
  CHECK(StatusAssignment(std::string(5000, 'x')).size() < 2000);
}

TEST_CASE("ServiceManager is silent where nobody listens", "[base][service_manager]") {
  for (const std::string& address :
       {std::string(), std::string("relative"), std::string("vsock:2:1234"), "/" + std::string(200, 'x')}) {
    const ServiceManager manager = ServiceManager::Find(Variables({{"NOTIFY_SOCKET", address}}), 7);
    CHECK_FALSE(manager.present());
    manager.Notify("READY=1");
  }
  ServiceManager::Find(Variables({{"NOTIFY_SOCKET", "/nobody/is/here"}}), 7).Notify("READY=1");
}

TEST_CASE("ServiceManager knows how long it may be silent", "[base][service_manager]") {
  const auto span = [](std::map<std::string, std::string> variables) {
    return ServiceManager::Find(Variables(std::move(variables)), 7).watchdog();
  };
  CHECK(span({{"WATCHDOG_USEC", "60000000"}}) == std::chrono::seconds(60));
  CHECK(span({{"WATCHDOG_USEC", "60000000"}, {"WATCHDOG_PID", "7"}}) == std::chrono::seconds(60));
  CHECK_FALSE(span({{"WATCHDOG_USEC", "60000000"}, {"WATCHDOG_PID", "8"}}));
  CHECK_FALSE(span({{"WATCHDOG_USEC", "0"}}));
  CHECK_FALSE(span({{"WATCHDOG_USEC", "soon"}}));
  CHECK_FALSE(span({}));
}

}  // namespace
}  // namespace cnpa
