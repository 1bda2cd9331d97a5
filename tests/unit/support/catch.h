// SPDX-License-Identifier: Apache-2.0
//
// Catch2, of whichever major version is there, and how our values look in its messages.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <optional>
#include <string>

#include "base/result.h"

namespace cnpa {

inline const char* CodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return "kInvalid";
    case ErrorCode::kDenied: return "kDenied";
    case ErrorCode::kNotFound: return "kNotFound";
    case ErrorCode::kConflict: return "kConflict";
    case ErrorCode::kTerminating: return "kTerminating";
    case ErrorCode::kUnreachable: return "kUnreachable";
    case ErrorCode::kUnavailable: return "kUnavailable";
    case ErrorCode::kMalformed: return "kMalformed";
    case ErrorCode::kUnsupported: return "kUnsupported";
    case ErrorCode::kStopped: return "kStopped";
  }
  return "?";
}

/// Returns what went wrong, or nothing: a failure test compares code and message in one go.
template <typename T>
std::optional<Error> ErrorOf(const Result<T>& result) {
  if (result) return std::nullopt;
  return result.error();
}

}  // namespace cnpa

template <>
struct Catch::StringMaker<cnpa::ErrorCode> {
  static std::string convert(cnpa::ErrorCode code) { return cnpa::CodeName(code); }
};

template <>
struct Catch::StringMaker<cnpa::Error> {
  static std::string convert(const cnpa::Error& error) {
    return std::string(cnpa::CodeName(error.code)) + " \"" + error.message + "\"";
  }
};

template <>
struct Catch::StringMaker<std::optional<cnpa::Error>> {
  static std::string convert(const std::optional<cnpa::Error>& error) {
    return error ? Catch::StringMaker<cnpa::Error>::convert(*error) : "success";
  }
};
