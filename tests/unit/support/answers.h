// SPDX-License-Identifier: Apache-2.0
//
// What a real API server answered: the files that testdata/record made.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include "kube/http/transport.h"
#include "support/catch.h"
#include "support/testdata.h"

namespace cnpa {

/// Returns the body of an answer, by the name of its file.
inline std::string AnswerText(const std::string& file) {
  std::ifstream stream(TestdataFolder() + "/answers/" + file, std::ios::binary);
  INFO("testdata/answers/" << file);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Returns an answer with its code, which the name of the file begins with.
inline Response Answer(const std::string& file) {
  Response response;
  response.code = std::stoi(file);
  response.content_type = file.ends_with(".json") ? "application/json" : "text/plain; charset=utf-8";
  response.body = AnswerText(file);
  return response;
}

/// Returns the string at a JSON Pointer of an answer: uids and times are different in each recording.
inline std::string AnswerString(const std::string& file, const std::string& pointer) {
  rapidjson::Document document;
  document.Parse(AnswerText(file).c_str());
  const rapidjson::Value* value = rapidjson::Pointer(pointer.c_str()).Get(document);
  INFO(file << " " << pointer);
  REQUIRE((value != nullptr && value->IsString()));
  return value->GetString();
}

}  // namespace cnpa
