// SPDX-License-Identifier: Apache-2.0
#include "app/render/document.h"

#include <utility>

#include "app/render/provenance.h"
#include "app/stages/archive.h"
#include "core/plan/describe.h"
#include "kube/json/json_writer.h"

namespace cnpa {
namespace {

void StringOrNull(JsonWriter& json, std::string_view key, const std::optional<std::string>& text) {
  if (text) return json.String(key, *text);
  json.Key(key);
  json.Null();
}

void WriteContest(JsonWriter& json, const std::optional<Contest>& contest) {
  if (!contest) return;
  json.Object("contested", [&] {
    json.Int("count", static_cast<std::int64_t>(contest->count));
    json.String("since", FormatTime(contest->since));
  });
}

void WriteField(JsonWriter& json, const FieldChange& field) {
  json.Object([&] {
    json.String("path", field.path);
    StringOrNull(json, "from", field.from);
    StringOrNull(json, "to", field.to);
    WriteContest(json, field.contested);
    WriteProvenance(json, field);
  });
}

/// What a change or a problem is about; of a TeamSpace its name alone as well.
void WriteSubject(JsonWriter& json, const ObjectRef& subject) {
  json.Object("subject", [&] {
    json.String("kind", subject.kind);
    json.String("name", subject.name);
  });
  if (subject.kind == kTeamSpaceKind) json.String("teamSpace", subject.name);
}

void WriteVerdict(JsonWriter& json, const Verdict& verdict) {
  json.Object("server", [&] {
    json.String("answer", AnswerName(verdict.answer));
    if (verdict.reason) json.String("reason", ReasonName(*verdict.reason));
    if (!verdict.message.empty()) json.String("message", verdict.message);
  });
}

}  // namespace

void PassDocument::AddPlan(const Plan& plan, const Verdicts* verdicts) {
  observed_at_ = plan.computed_at;
  for (std::size_t i = 0; i < plan.chains.size(); ++i) {
    const Chain& chain = plan.chains[i];
    for (std::size_t j = 0; j < chain.changes.size(); ++j) {
      AddChange(chain, chain.changes[j], verdicts != nullptr ? &(*verdicts)[i][j] : nullptr);
    }
    if (chain.refusal) AddProblem(chain, {.refusal = chain.refusal});
  }
  const PlanCounts counts = CountPlan(plan);
  summary_ = {{"teamSpaces", plan.team_spaces}, {"toCreate", counts.created}, {"toChange", counts.changed},
              {"toRelease", counts.released},   {"refused", counts.refused},  {"waiting", counts.waiting}};
  if (verdicts == nullptr) return;
  const VerdictCounts answers = CountVerdicts(plan, *verdicts);
  summary_.insert(summary_.end(), {{"serverAccepts", answers.accepted},
                                   {"serverRefuses", answers.refused},
                                   {"serverOutdated", answers.outdated},
                                   {"serverNotChecked", answers.not_checked}});
}

void PassDocument::AddChanges(const Chain& chain, const ChainReport& report) {
  for (std::size_t i = 0; i < report.done; ++i) {
    if (report.Made(chain, i)) AddChange(chain, chain.changes[i]);
  }
}

void PassDocument::SetProblems(const Plan& plan, const Report& report) {
  observed_at_ = plan.computed_at;
  problems_.clear();
  for (std::size_t i = 0; i < plan.chains.size(); ++i) AddProblem(plan.chains[i], report.chains[i]);
}

void PassDocument::SetTotals(const Totals& totals, std::chrono::milliseconds took) {
  summary_ = {{"teamSpaces", totals.team_spaces},
              {"created", totals.created},
              {"changed", totals.changed},
              {"deleted", totals.deleted},
              {"refused", totals.refused},
              {"waiting", totals.waiting},
              {"failed", totals.failed},
              {"left", totals.left},
              {"objectsChanged", totals.objects_changed},
              {"objectsNotAsDeclared", totals.objects_off},
              {"writes", totals.writes},
              {"milliseconds", static_cast<std::uint64_t>(took.count())}};
}

void PassDocument::AddChange(const Chain& chain, const Change& change, const Verdict* verdict) {
  const Description description = Describe(chain, change);
  JsonWriter json;
  json.Object([&] {
    WriteSubject(json, SubjectOf(chain));
    json.Object("object", [&] {
      const ObjectRef& object = description.object;
      json.String("kind", object.kind);
      if (!object.namespace_name.empty()) json.String("namespace", object.namespace_name);
      json.String("name", object.name);
    });
    json.String("verb", VerbOf(description.action));
    json.String("reason", CauseName(change.cause));
    if (description.action == Action::kArchive) {
      json.String("file", archive_folder_ + "/" + ArchiveFileName(chain.name, chain.uid));
    }
    WriteContest(json, change.contested);
    json.Array("fields", [&] {
      for (const FieldChange& field : description.fields) WriteField(json, field);
    });
    if (verdict != nullptr) WriteVerdict(json, *verdict);
  });
  changes_.push_back(json.text());
}

void PassDocument::AddProblem(const Chain& chain, const ChainReport& report) {
  if (report.refusal) {
    problems_.push_back({SubjectOf(chain), report.refusal, report.refusal->message});
  } else if (report.end == ChainEnd::kFailed) {
    problems_.push_back({SubjectOf(chain), std::nullopt, report.error.message});
  }
}

std::string PassDocument::Text() const {
  JsonWriter json(JsonWriter::Layout::kIndented);
  json.Object([&] {
    json.Int("version", kPassDocumentVersion);
    json.String("kind", kind_ == Kind::kPlan ? "Plan" : "Report");
    if (!error_.empty()) json.String("error", error_);
    if (observed_at_ != Time{}) json.String("observedAt", FormatTime(observed_at_));
    json.Object("summary", [&] {
      for (const auto& [name, number] : summary_) json.Int(name, static_cast<std::int64_t>(number));
    });
    json.Array("changes", [&] {
      for (const std::string& change : changes_) json.Raw(change);
    });
    json.Array("problems", [&] {
      for (const Problem& problem : problems_) {
        json.Object([&] {
          WriteSubject(json, problem.subject);
          json.String("state", !problem.refusal ? "failed" : problem.refusal->waiting() ? "waiting" : "refused");
          if (problem.refusal) json.String("reason", ReasonName(problem.refusal->reason));
          json.String("message", problem.message);
        });
      }
    });
  });
  return json.text();
}

}  // namespace cnpa
