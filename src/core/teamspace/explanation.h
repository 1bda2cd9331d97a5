// SPDX-License-Identifier: Apache-2.0
//
// One team space and all objects of it: what is there, what should be, who set it, and what a pass makes of it. All
// that it says of differences is the plan's, so that it never says other than what a pass does.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/objects/objects.h"
#include "core/plan/change.h"

namespace cnpa {

/// What people want to see of one object, and no plan depends on.
struct ObjectSight {
  std::string created;  ///< As written; so `deleted`, which is empty while it is not being deleted.
  std::string deleted;
  std::vector<std::string> finalizers;      ///< All but those that every namespace has.
  FieldWriters writers;                     ///< Of the fields that we own, ourselves among them.
  std::vector<Condition> conditions;        ///< Of a namespace: those of its deletion that are true.
  std::map<std::string, std::string> used;  ///< Of a quota.

  bool operator==(const ObjectSight&) const = default;
};

/// The same of a team space.
struct CloseSights {
  ObjectSight team_space;
  ObjectSight space;
  ObjectSight quota;
};

/// How a team space stands.
enum class Standing {
  kUnknown,    ///< There is no TeamSpace of that name.
  kInSync,     ///< A pass writes nothing.
  kNew,        ///< No pass has looked at it yet.
  kOutOfSync,  ///< A pass has something to write.
  kRefused,    ///< Somebody must act; with `told`, the server refused it, and the next pass tries it again.
  kWaiting,    ///< Time will mend it.
  kDeleting,   ///< It is being deleted.
};

/// Returns the standing in one word: "InSync".
std::string_view StandingName(Standing standing);

/// A field that cnpa-op owns, or finds where it owns all.
struct FieldFinding {
  std::string path;
  std::optional<std::string> wanted;  ///< Nothing: it should not be there, or nothing can be asked of it.
  std::optional<std::string> found;
  bool differs = false;            ///< A pass changes it.
  std::optional<Writer> writer;    ///< Who set what is found, as far as the server says.
  std::optional<Absence> absence;  ///< What can be told of what is not found.
  std::string used;                ///< Of a resource that the quota bounds; empty: not known.

  bool operator==(const FieldFinding&) const = default;
};

enum class Presence {
  kThere,
  kMissing,
  kDeleting,
  kForeign,  ///< It is there and not ours.
};

/// Returns the presence in one word: "There".
std::string_view PresenceName(Presence presence);

struct ObjectFinding {
  std::string kind;
  std::string namespace_name;  ///< Empty for what is in none.
  std::string name;
  Presence presence = Presence::kThere;
  std::string uid;
  std::string created;
  std::string deleted;
  std::vector<FieldFinding> fields;

  bool operator==(const ObjectFinding&) const = default;
};

/// Something that keeps an object which is being deleted.
struct Hold {
  std::string kind;  ///< Of the object.
  std::string name;
  std::string cause;    ///< A finalizer, or the type of a condition: "NamespaceContentRemaining".
  std::string message;  ///< Of a condition, in the server's words; of a finalizer empty.

  bool operator==(const Hold&) const = default;
};

struct Explanation {
  std::string name;
  Standing standing = Standing::kUnknown;
  std::optional<Chain> chain;     ///< What a pass would do and refuse; nothing: neither.
  std::optional<Condition> told;  ///< `Ready`, where it says why not and the plan finds nothing of that.
  std::vector<ObjectFinding> objects;
  std::vector<Hold> holds;
  Time observed_at{};

  bool operator==(const Explanation&) const = default;
};

}  // namespace cnpa
