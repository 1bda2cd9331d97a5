// SPDX-License-Identifier: Apache-2.0
//
// Where in a JSON text the bytes stand that tell its parts from each other. What lies between them is most of a list,
// and nobody's concern, so it is looked at in blocks: a few instructions for all bytes of one. A block has two forms,
// for SSE2, which every x86-64 has, and for any machine.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace cnpa {

/// Places in a block, first to last: one bit is set for each, among the kBitsEach of its byte.
template <int kBitsEach>
class BlockPlaces {
 public:
  explicit BlockPlaces(std::uint64_t bits) : bits_(bits) {}

  bool empty() const { return bits_ == 0; }
  std::size_t first() const { return static_cast<std::size_t>(std::countr_zero(bits_)) / kBitsEach; }
  void DropFirst() { bits_ &= bits_ - 1; }

 private:
  std::uint64_t bits_;
};

/// Eight bytes in a register.
class PortableBlock {
 public:
  static constexpr std::size_t kBytes = 8;
  using Places = BlockPlaces<8>;
  using Set = std::uint64_t;  ///< The highest bit of each byte that is meant.

  explicit PortableBlock(const char* bytes) {
    std::memcpy(&bytes_, bytes, kBytes);
    if constexpr (std::endian::native == std::endian::big) bytes_ = __builtin_bswap64(bytes_);
  }

  Set Equal(char c) const { return IsZero(bytes_ ^ Each(c)); }
  Set EqualInAnyCase(char c) const { return IsZero((bytes_ | Each(' ')) ^ Each(c)); }
  static Set Either(Set one, Set other) { return one | other; }
  static Places In(Set set) { return Places(set); }

 private:
  static constexpr Set kLow = 0x7f7f7f7f7f7f7f7fU;
  static constexpr Set Each(char c) { return 0x0101010101010101U * static_cast<unsigned char>(c); }
  static Set IsZero(Set bytes) { return ~(((bytes & kLow) + kLow) | bytes | kLow); }

  std::uint64_t bytes_ = 0;
};

#ifdef __SSE2__
/// Sixteen bytes: a test of all of them takes two instructions, where PortableBlock needs twelve.
class Sse2Block {
 public:
  static constexpr std::size_t kBytes = 16;
  using Places = BlockPlaces<1>;
  using Set = __m128i;

  explicit Sse2Block(const char* bytes) { std::memcpy(&bytes_, bytes, kBytes); }

  Set Equal(char c) const { return _mm_cmpeq_epi8(bytes_, _mm_set1_epi8(c)); }
  Set EqualInAnyCase(char c) const {
    return _mm_cmpeq_epi8(_mm_or_si128(bytes_, _mm_set1_epi8(' ')), _mm_set1_epi8(c));
  }
  static Set Either(Set one, Set other) { return _mm_or_si128(one, other); }
  static Places In(Set set) { return Places(static_cast<std::uint32_t>(_mm_movemask_epi8(set))); }

 private:
  __m128i bytes_{};
};
using JsonBlock = Sse2Block;
#else
using JsonBlock = PortableBlock;
#endif

/// Returns the places of " \ { } [ ] in a block. As letters have two cases, so { has [, and } has ].
template <typename Block>
typename Block::Places MarksIn(const Block& block) {
  const auto of_strings = Block::Either(block.Equal('"'), block.Equal('\\'));
  return Block::In(Block::Either(of_strings, Block::Either(block.EqualInAnyCase('{'), block.EqualInAnyCase('}'))));
}

/// Calls `visit(place)` for each " \ { } [ ] of `text`, first to last, until it returns false; returns whether it never
/// did.
template <typename Block = JsonBlock, typename Visit>
bool EachMark(std::string_view text, const Visit& visit) {
  std::array<char, Block::kBytes> last{};
  for (std::size_t begin = 0; begin < text.size(); begin += Block::kBytes) {
    const char* bytes = text.data() + begin;
    if (text.size() - begin < Block::kBytes) {
      text.copy(last.data(), last.size(), begin);
      bytes = last.data();
    }
    for (auto places = MarksIn(Block(bytes)); !places.empty(); places.DropFirst()) {
      if (!visit(begin + places.first())) return false;
    }
  }
  return true;
}

}  // namespace cnpa
