// SPDX-License-Identifier: Apache-2.0
#include "app/render/provenance.h"

#include <string>
#include <vector>

#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Writer kEdit{"kubectl-edit", "Update", "", kNow - seconds(4)};
const Writer kHelm{"helm", "Update", "", kNow - minutes(2)};
const Writer kApply{"kubectl", "Apply", "", kNow - minutes(3)};
const Writer kStatus{"other", "Update", "status", kNow - seconds(4)};
const Time kOurs = kNow - minutes(5);

FieldChange SetBy(const std::string& path, const Writer& writer) {
  return {.path = path, .from = "a", .to = "b", .writer = writer};
}

FieldChange Absent(const std::string& path, Absence absence) {
  return {.path = path, .to = "b", .absence = std::move(absence)};
}

TEST_CASE("ProvenanceWords says no more than the server keeps", "[app][provenance]") {
  struct Case {
    std::string name;
    FieldChange field;
    std::string want;
  };
  const std::string hard = "spec.hard.pods";
  const std::string status = "status.observedGeneration";
  const std::vector<Case> cases{
      {"nothing", {.path = hard, .from = "a", .to = "b"}, ""},
      {"a writer", SetBy(hard, kEdit), "was changed by kubectl-edit, 4s ago"},
      {"without time", SetBy(hard, {"x", "Update", "", std::nullopt}), "was changed by x"},
      {"whose clock is ahead", SetBy(hard, {"x", "Update", "", kNow + seconds(9)}), "was changed by x, 0s ago"},
      {"an apply", SetBy(hard, kApply), "was changed by kubectl (server-side apply), 3m ago"},
      {"through a subresource", SetBy("metadata.labels['a']", kStatus),
       "was changed by other (through status), 4s ago"},
      {"of the status, where all write so", SetBy(status, kStatus), "was changed by other, 4s ago"},
      {"without a name", SetBy(hard, {"", "Update", "", std::nullopt}), "was changed by an unnamed manager"},
      {"scopes", SetBy("spec.scopes", kEdit), "were set by kubectl-edit, 4s ago"},
      {"removed, and nobody is seen", Absent(hard, {true, {kOurs, {}}}),
       "was removed, the server does not say by whom"},
      {"removed, and one wrote since", Absent(hard, {true, {kOurs, {kEdit}}}),
       "was removed, the server does not say by whom; after us kubectl-edit (4s ago) wrote this object"},
      {"and several did", Absent(hard, {true, {kOurs, {kEdit, kHelm, kApply}}}),
       "was removed, the server does not say by whom; after us kubectl-edit (4s ago), helm (2m ago) and kubectl "
       "(server-side apply, 3m ago) wrote this object"},
      {"in the second of our own write", Absent(hard, {true, {kEdit.time, {kEdit}}}),
       "was removed, the server does not say by whom; after us kubectl-edit (4s ago, perhaps before us) wrote this "
       "object"},
      {"never seen to be ours", Absent(hard, {false, {std::nullopt, {kHelm}}}),
       "is missing; no write of ours is left on this object, helm (2m ago) wrote it"},
      {"perhaps never there", Absent(hard, {false, {kOurs, {kHelm}}}),
       "is missing; after us helm (2m ago) wrote this object"},
      {"of the status", Absent(status, {true, {kOurs, {kStatus}}}),
       "was removed, the server does not say by whom; after us other (4s ago) wrote this status"},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      CHECK(ProvenanceWords(c.field, kNow) == c.want);
    }
  }
}

TEST_CASE("WriteProvenance has the same for machines", "[app][provenance]") {
  const auto text = [](const FieldChange& field) {
    JsonWriter json;
    json.Object([&] { WriteProvenance(json, field); });
    return json.text();
  };
  CHECK(text({.path = "a", .from = "a", .to = "b"}) == "{}");
  CHECK(text(SetBy("a", {"x", "Apply", "status", kNow})) ==
        R"({"lastWriter":{"manager":"x","operation":"Apply","subresource":"status","time":")" + kNowText + R"("}})");
  CHECK(text(SetBy("a", {"x", "Update", "", std::nullopt})) ==
        R"({"lastWriter":{"manager":"x","operation":"Update","subresource":"","time":null}})");
  CHECK(text(Absent("a", {true, {kNow, {{"x", "Update", "", kNow}}}})) ==
        R"({"removed":true,"ourLastWrite":")" + kNowText +
            R"(","writersSince":[{"manager":"x","operation":"Update","subresource":"","time":")" + kNowText +
            R"("}]})");
  CHECK(text(Absent("a", {false, {std::nullopt, {}}})) == R"({"removed":false,"ourLastWrite":null,"writersSince":[]})");
}

}  // namespace
}  // namespace cnpa
