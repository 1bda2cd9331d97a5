// SPDX-License-Identifier: Apache-2.0
#include "core/objects/writer.h"

#include <string>
#include <vector>

#include "support/builders.h"
#include "support/catch.h"

namespace cnpa {
namespace {

using std::chrono::seconds;

const Time kOurs = kNow - seconds(60);

WriteEntry Entry(const std::string& manager, Time time, const std::string& subresource = {}, bool of_metadata = false) {
  return {.writer = {manager, "Update", subresource, time}, .of_metadata = of_metadata};
}

TEST_CASE("IsOurs takes the updates under our name, and no apply", "[core][writer]") {
  CHECK(IsOurs({"cnpa-op", "Update", "", kNow}));
  CHECK(IsOurs({"cnpa-op", "Update", "status", std::nullopt}));
  CHECK_FALSE(IsOurs({"cnpa-op", "Apply", "", kNow}));
  CHECK_FALSE(IsOurs({"cnpa-op-2", "Update", "", kNow}));
  CHECK_FALSE(IsOurs({"", "Update", "", kNow}));
}

TEST_CASE("ComputeTrace keeps who may have written a part of an object after us", "[core][writer]") {
  struct Case {
    std::string name;
    std::vector<WriteEntry> entries;
    ObjectPart part;
    WriteTrace want;
  };
  const WriteEntry ours = Entry("cnpa-op", kOurs);
  const WriteEntry ours_status = Entry("cnpa-op", kOurs, "status");
  const WriteEntry edit = Entry("kubectl-edit", kNow);
  const WriteEntry label = Entry("kubectl-label", kNow - seconds(5));
  const WriteEntry controller = Entry("kube-controller-manager", kNow, "status");
  const WriteEntry through_status = Entry("odd", kNow, "status", true);
  WriteEntry applied_as_us = Entry("cnpa-op", kNow);
  applied_as_us.writer.operation = "Apply";
  WriteEntry timeless = edit;
  timeless.writer.time = std::nullopt;
  WriteEntry ours_timeless = ours;
  ours_timeless.writer.time = std::nullopt;
  const std::vector<Case> cases{
      {"nothing is kept", {}, ObjectPart::kSpec, {}},
      {"we alone", {ours}, ObjectPart::kSpec, {kOurs, {}}},
      {"the latest first, whatever the server's order",
       {label, ours, edit},
       ObjectPart::kSpec,
       {kOurs, {edit.writer, label.writer}}},
      {"who wrote before us is left out", {Entry("a", kOurs - seconds(1)), ours}, ObjectPart::kSpec, {kOurs, {}}},
      {"in the same second nobody knows",
       {Entry("a", kOurs), ours},
       ObjectPart::kSpec,
       {kOurs, {Entry("a", kOurs).writer}}},
      {"all, where no write of ours is kept",
       {Entry("a", kOurs), edit},
       ObjectPart::kSpec,
       {std::nullopt, {edit.writer, Entry("a", kOurs).writer}}},
      {"no more than a few",
       {Entry("a", kNow), Entry("b", kNow), Entry("c", kNow), Entry("d", kNow + seconds(1))},
       ObjectPart::kSpec,
       {std::nullopt, {Entry("d", kNow + seconds(1)).writer, Entry("a", kNow).writer, Entry("b", kNow).writer}}},
      {"a status write has no reach into a spec", {ours, controller, through_status}, ObjectPart::kSpec, {kOurs, {}}},
      {"nor into metadata, unless it is seen to have",
       {ours, controller, through_status},
       ObjectPart::kMetadata,
       {kOurs, {through_status.writer}}},
      {"only status writes reach a status",
       {ours_status, edit, controller},
       ObjectPart::kStatus,
       {kOurs, {controller.writer}}},
      {"of a status only what we wrote there counts",
       {ours, controller},
       ObjectPart::kStatus,
       {std::nullopt, {controller.writer}}},
      {"of the object our status write counts too, when its own entry went with its last field",
       {ours_status, edit},
       ObjectPart::kMetadata,
       {kOurs, {edit.writer}}},
      {"the later one of ours counts",
       {Entry("cnpa-op", kNow, "status"), ours, label},
       ObjectPart::kMetadata,
       {kNow, {}}},
      {"an apply under our name is another's",
       {ours, applied_as_us},
       ObjectPart::kSpec,
       {kOurs, {applied_as_us.writer}}},
      {"what has no time can't be compared", {ours, timeless}, ObjectPart::kSpec, {kOurs, {}}},
      {"ours neither", {ours_timeless, edit}, ObjectPart::kSpec, {std::nullopt, {edit.writer}}},
  };
  for (const Case& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const WriteTrace trace = ComputeTrace(c.entries, c.part);
      CHECK(trace.ours == c.want.ours);
      CHECK(trace.later == c.want.later);
    }
  }
}

TEST_CASE("ComputeTrace takes who wrote in the second in which another made the object for its maker",
          "[core][writer]") {
  const std::vector<WriteEntry> entries{Entry("maker", kOurs), Entry("later", kNow), Entry("cnpa-op", kOurs)};
  const Writer maker = entries[0].writer;
  const Writer later = entries[1].writer;
  CHECK(ComputeTrace(entries, ObjectPart::kSpec, kOurs) == WriteTrace{kOurs, {later}});
  CHECK(ComputeTrace(entries, ObjectPart::kSpec, kOurs - seconds(1)) == WriteTrace{kOurs, {later, maker}});
  CHECK(ComputeTrace({entries[0]}, ObjectPart::kSpec, kOurs) == WriteTrace{std::nullopt, {maker}});
}

TEST_CASE("ComputeAbsence calls removed only what we had there, and is silent where nothing is known",
          "[core][writer]") {
  const WriteTrace ours{kOurs, {}};
  const WriteTrace both{kOurs, {Entry("a", kNow).writer}};
  const WriteTrace others{std::nullopt, {Entry("a", kNow).writer}};
  CHECK(ComputeAbsence(ours, true) == Absence{true, ours});
  CHECK(ComputeAbsence(both, true) == Absence{true, both});
  CHECK(ComputeAbsence(both, false) == Absence{false, both});
  CHECK(ComputeAbsence(others, true) == Absence{false, others});
  CHECK(ComputeAbsence(ours, false) == std::nullopt);
  CHECK(ComputeAbsence({}, true) == std::nullopt);
}

TEST_CASE("WriterOf finds a writer by the path of a field", "[core][writer]") {
  const Writer writer{"kubectl-edit", "Update", "", kNow};
  const FieldWriters writers{{"spec.hard.pods", writer}};
  CHECK(WriterOf(writers, "spec.hard.pods") == writer);
  CHECK(WriterOf(writers, "spec.hard") == std::nullopt);
}

}  // namespace
}  // namespace cnpa
