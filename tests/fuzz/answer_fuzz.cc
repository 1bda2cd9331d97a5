// SPDX-License-Identifier: Apache-2.0
//
// Answers that are read whole: the CRD, discovery, confirmations, events; and archive files.
#include "fuzz.h"
#include "kube/codec/codec.h"
#include "kube/codec/codec_sight.h"
#include "kube/codec/event_codec.h"

namespace cnpa {
namespace {

template <typename Decode>
auto FuzzDecoder(std::string_view text, const Decode& decode) {
  auto decoded = decode(std::string(text));
  Require(decode("\n " + std::string(text) + " \n").has_value() == decoded.has_value(), "blanks around change nothing");
  if (!WithinDepth(text)) Require(!decoded, "what is nested too deep is refused");
  return decoded;
}

}  // namespace

void Fuzz(std::string_view text) {
  RequireValueOr(ErrorCode::kMalformed, FuzzDecoder(text, &DecodeCrd));
  RequireValueOr(ErrorCode::kMalformed, FuzzDecoder(text, &DecodeDiscovery));

  const Result<EventSeries> event = FuzzDecoder(text, &DecodeEvent);
  RequireValueOr(ErrorCode::kMalformed, event);
  if (event && event->count) Require(*event->count >= 1, "what happened, happened once at least");

  const Result<WriteArchive> archive = FuzzDecoder(text, &DecodeArchive);
  RequireValueOr(ErrorCode::kMalformed, archive);
  if (archive) Require(DecodeArchive(EncodeArchive(*archive)) == archive, "an archive can be written again");

  const Chain chain{.name = "alpha", .uid = "0-1", .generation = 1};
  const Status same =
      FuzzDecoder(text, [&chain](std::string answer) { return DecodeConfirmation(std::move(answer), chain); });
  if (!same && same.error().code != ErrorCode::kConflict) RequireValueOr(ErrorCode::kMalformed, same);
  const Chain other{.name = "alpha", .uid = "0-2", .generation = 1};
  if (same) Require(!DecodeConfirmation(std::string(text), other), "one answer does not confirm two team spaces");
}

}  // namespace cnpa
