// SPDX-License-Identifier: Apache-2.0
#include "app/render/repair_words.h"

#include <fmt/core.h>

#include "app/render/field_words.h"
#include "app/render/provenance.h"

namespace cnpa {
namespace {

/// What is known of who did it, without the ages: what is said is read later.
std::string TimelessProvenance(FieldChange field) {
  if (field.writer) field.writer->time.reset();
  if (field.absence) field.absence->trace = {};
  return ProvenanceWords(field, Time{});
}

std::string FieldWords(const FieldChange& field) {
  const std::string provenance = TimelessProvenance(field);
  return Difference(field) + (provenance.empty() ? "" : ": " + provenance);
}

/// Returns "sets spec.hard.pods of ResourceQuota/team-red/team-quota".
std::string DamageWords(const Repair& repair) {
  const std::string object = repair.object.Text();
  switch (repair.damage) {
    case Damage::kChanged:
      return fmt::format("{} {} of {}", repair.field.from ? "sets" : "removes", repair.field.path, object);
    case Damage::kReleased: return fmt::format("takes the finalizer {} off {}", kFinalizer, object);
    case Damage::kDeleted: return fmt::format("deletes {}", object);
    case Damage::kScoped: return fmt::format("gives {} scopes", object);
  }
  return {};
}

}  // namespace

std::string RepairWords(const Repair& repair) {
  switch (repair.damage) {
    case Damage::kChanged: return FieldWords(repair.field);
    case Damage::kReleased: return fmt::format("finalizer {} was removed: added again", kFinalizer);
    case Damage::kDeleted: return "was deleted: re-created";
    case Damage::kScoped: {
      const std::string who = repair.manager().empty() ? "" : ", set by " + repair.manager();
      return fmt::format("had scopes, which narrow it{}: re-created", who);
    }
  }
  return {};
}

std::string FightWords(const Repair& repair) {
  const std::string who = repair.manager().empty() ? "somebody" : repair.manager();
  return fmt::format("{} {} again and again", who, DamageWords(repair));
}

}  // namespace cnpa
