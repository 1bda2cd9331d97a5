// SPDX-License-Identifier: Apache-2.0
//
// Lists as they arrive, with all that a real API server puts into an object: one item of each, 1,000 times.
#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/objects/quantity.h"
#include "kube/codec/codec.h"
#include "kube/json/json.h"
#include "kube/json/list_splitter.h"
#include "support/catch.h"
#include "support/testdata.h"

namespace cnpa {
namespace {

constexpr std::size_t kItems = 1000;
constexpr std::size_t kPieceBytes = 16384;  // A record of TLS.

template <typename T>
using Decode = Result<T> (*)(JsonDocument&, std::string&);

/// Splits `list`, fed piece by piece, and returns how many items there were.
std::size_t Split(std::string_view list, const ListSplitter::OnItem& on_item) {
  ListSplitter splitter(on_item);
  for (std::size_t at = 0; at < list.size(); at += kPieceBytes) {
    if (!splitter.Feed(list.substr(at, kPieceBytes))) throw std::runtime_error("the list does not decode");
  }
  if (!splitter.Finish()) throw std::runtime_error("the list is not whole");
  return splitter.items();
}

/// Returns a list of kItems items: the last one of a recorded answer, over and over.
std::string LongList(const std::string& file) {
  std::ifstream stream(TestdataFolder() + "/answers/" + file, std::ios::binary);
  const std::string answer{std::istreambuf_iterator<char>(stream), {}};
  std::string item;
  Split(answer, [&item](std::string& each) -> Status {
    item = each;
    return {};
  });
  if (item.empty()) throw std::runtime_error("no item in " + file);
  std::string list = R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[)" + item;
  list.reserve(list.size() + kItems * (item.size() + 1));
  for (std::size_t i = 1; i < kItems; ++i) list.append(",").append(item);
  return list.append("]}");
}

template <typename T>
std::vector<T> DecodeList(std::string_view list, Decode<T> decode) {
  std::vector<T> objects;
  JsonDocument document;
  Split(list, [&](std::string& item) -> Status {
    Result<T> object = decode(document, item);
    if (!object || !object->unreadable.empty()) throw std::runtime_error("an item does not decode");
    objects.push_back(*std::move(object));
    return {};
  });
  return objects;
}

std::string Named(const std::string& kind, std::size_t count) {
  return kind + ": " + std::to_string(count);
}

TEST_CASE("Lists of 1,000", "[bench]") {
  const std::string team_spaces = LongList("200-teamspaces.json");
  const std::string namespaces = LongList("200-namespaces.json");
  const std::string quotas = LongList("200-resourcequotas.json");

  BENCHMARK(Named("split", kItems)) {
    return Split(team_spaces, [](std::string& /*item*/) -> Status { return {}; });
  };
  BENCHMARK(Named("team_space", kItems)) {
    return DecodeList<TeamSpace>(team_spaces, DecodeTeamSpace);
  };
  BENCHMARK(Named("namespace", kItems)) {
    return DecodeList<Namespace>(namespaces, DecodeNamespace);
  };
  BENCHMARK(Named("quota", kItems)) {
    return DecodeList<Quota>(quotas, DecodeQuota);
  };
}

TEST_CASE("Quantities", "[bench]") {
  constexpr std::array<std::string_view, 5> kTexts{"4", "500m", "0.5", "2Gi", "1.5e3"};
  BENCHMARK(Named("quantity", kTexts.size())) {
    return std::count_if(kTexts.begin(), kTexts.end(),
                         [](std::string_view text) { return ParseQuantity(text).has_value(); });
  };
}

}  // namespace
}  // namespace cnpa
