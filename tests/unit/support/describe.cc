// SPDX-License-Identifier: Apache-2.0
#include "support/describe.h"

#include <variant>

#include "kube/codec/codec.h"

namespace cnpa {

std::string Describe(const Chain& chain, const Change& change) {
  std::string text;
  if (const auto* archive = std::get_if<WriteArchive>(&change.effect)) {
    text = "ARCHIVE " + EncodeArchive(*archive);
  } else {
    const Request request = EncodeChange(chain, change);
    text = std::string(MethodName(request.method)) + " " + request.path + " " + request.body;
  }
  text += " cause " + std::to_string(static_cast<int>(change.cause));
  for (const FieldChange& field : change.fields) {
    text += "; " + field.path + " " + field.from.value_or("none") + " -> " + field.to.value_or("none");
    if (field.writer) text += " by " + field.writer->manager;
    if (field.absence) text += field.absence->removed ? " (removed)" : " (missing)";
  }
  return text;
}

std::string Describe(const Chain& chain) {
  std::string text = chain.name + " (" + chain.uid + ", generation " + std::to_string(chain.generation) + ", turn " +
                     std::to_string(static_cast<int>(chain.turn)) + (chain.deleting ? ", deleting" : "") +
                     ", namespace " + chain.namespace_name.value_or("none") + ")\n";
  for (const Change& change : chain.changes) text += "  " + Describe(chain, change) + "\n";
  if (chain.refusal) text += "  " + Catch::StringMaker<Refusal>::convert(*chain.refusal) + "\n";
  return text;
}

std::string Describe(const Plan& plan) {
  std::string text = "plan of " + std::to_string(plan.team_spaces) + "\n";
  for (const Chain& chain : plan.chains) text += Describe(chain);
  return text;
}

Chain ChainOf(const Plan& plan, const std::string& name) {
  for (const Chain& chain : plan.chains) {
    if (chain.name == name) return chain;
  }
  return {};
}

}  // namespace cnpa
