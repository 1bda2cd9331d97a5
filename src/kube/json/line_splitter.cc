// SPDX-License-Identifier: Apache-2.0
#include "kube/json/line_splitter.h"

#include <algorithm>
#include <cstddef>

namespace cnpa {
namespace {

// An object in etcd has at most 1.5 MiB; as JSON, in an event, it may grow a little.
constexpr std::size_t kLongestLineBytes = std::size_t{8} << 20U;

}  // namespace

Status LineSplitter::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    if (line_.size() + end > kLongestLineBytes) return Fail(ErrorCode::kMalformed, "not a watch: a line is too long");
    line_.append(bytes.substr(0, end));
    if (end == bytes.size()) break;
    bytes.remove_prefix(end + 1);
    if (line_.empty()) continue;
    if (Status taken = on_line_(line_); !taken) return taken;
    line_.clear();
  }
  return {};
}

}  // namespace cnpa
