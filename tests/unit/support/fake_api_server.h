// SPDX-License-Identifier: Apache-2.0
//
// An API server in memory, behind the seam of Transport, so that the real client and codec run. It knows
// lists, objects, create, JSON Patch with `test`, the status subresource, delete with a uid, dry runs, a mutating
// policy, and one injected failure; what is finer needs a real server.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/objects/objects.h"
#include "support/fake_transport.h"

namespace cnpa {

class FakeApiServer : public FakeTransport {
 public:
  /// Makes a server that has the CRD and nothing else.
  FakeApiServer();

  void Put(const std::string& path, const std::string& json) { objects_[path] = json; }
  void Put(const TeamSpace& team_space);
  void Put(const Namespace& space);
  void Put(const Quota& quota);
  void Put(const Observation& cluster);
  void Erase(const std::string& path) { objects_.erase(path); }
  bool Has(const std::string& path) const { return objects_.contains(path); }

  /// Returns the value at a JSON Pointer of an object as JSON, "" when it is not there.
  std::string At(const std::string& path, const std::string& pointer) const;

  /// Returns every object by its path; two equal states are equal maps.
  const std::map<std::string, std::string>& objects() const { return objects_; }

  /// Returns "POST /path" of each write since the last call, those that were refused included.
  std::vector<std::string> TakeWrites();

  /// Requests that begin so ("PATCH /api/v1/...") get this answer instead.
  struct Failure {
    std::string request;
    Result<Response> answer;
  };
  std::optional<Failure> failure;

  /// What an admission policy makes of what is written: "ResourceQuota/spec/hard/pods" becomes that JSON, or goes by
  /// "null".
  std::map<std::string, std::string> policy;

  /// Is called before each request is performed: the place for another writer, or for a crash.
  std::function<void(const Request&)> before;

  std::size_t page_items = 0;  ///< Of a list; 0: no pages.

 private:
  Result<Response> Handle(const Request& request);
  Response Perform(const Request& request);
  Response Get(const std::string& path, const std::string& query) const;
  Response Create(const std::string& path, const std::string& body);
  Response Patch(const std::string& path, const std::string& body);
  Response Delete(const std::string& path, const std::string& body);
  std::string AsAdmitted(const std::string& object) const;

  std::map<std::string, std::string> objects_;
  std::size_t seen_ = 0;                ///< Of `requests`, by TakeWrites().
  std::map<std::string, int> created_;  ///< How often, by path.
};

/// Returns an answer with a Status in it.
Response StatusAnswer(int code, const std::string& reason, const std::string& message,
                      const std::string& details = "{}");

/// Returns what the server says when a `test` of a JSON Patch fails.
Response FailedTestAnswer();

std::string PathOfTeamSpace(const std::string& name);
std::string PathOfNamespace(const std::string& name);  ///< Of "team-<name>".
std::string PathOfQuota(const std::string& name);

}  // namespace cnpa
