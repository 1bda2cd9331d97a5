// SPDX-License-Identifier: Apache-2.0
//
// Plans in the messages of failed tests: each change as the request that it becomes.
#pragma once

#include <optional>
#include <string>

#include "core/plan/change.h"
#include "support/catch.h"

namespace cnpa {

std::string Describe(const Chain& chain, const Change& change);
std::string Describe(const Chain& chain);
std::string Describe(const Plan& plan);

/// Returns the chain of a team space, or an empty one.
Chain ChainOf(const Plan& plan, const std::string& name);

}  // namespace cnpa

template <>
struct Catch::StringMaker<cnpa::Plan> {
  static std::string convert(const cnpa::Plan& plan) { return cnpa::Describe(plan); }
};

template <>
struct Catch::StringMaker<cnpa::Chain> {
  static std::string convert(const cnpa::Chain& chain) { return cnpa::Describe(chain); }
};

template <>
struct Catch::StringMaker<cnpa::Change> {
  static std::string convert(const cnpa::Change& change) { return cnpa::Describe({}, change); }
};

template <>
struct Catch::StringMaker<cnpa::Refusal> {
  static std::string convert(const cnpa::Refusal& refusal) {
    return std::string(cnpa::ReasonName(refusal.reason)) + " \"" + refusal.message + "\"";
  }
};

template <>
struct Catch::StringMaker<std::optional<cnpa::Refusal>> {
  static std::string convert(const std::optional<cnpa::Refusal>& refusal) {
    return refusal ? Catch::StringMaker<cnpa::Refusal>::convert(*refusal) : "none";
  }
};
