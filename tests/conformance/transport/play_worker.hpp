// Bodies that either side can make and check by itself.
#pragma once
#include "culmen/base/bytes.hpp"

namespace culmen::conformance {

Bytes body_of(std::uint64_t number, std::size_t bytes);
/// A size for frame `number` of a flood: mostly small, at most `most`.
std::size_t size_of(std::uint64_t number, std::size_t most);
std::uint64_t sum_of(BytesView bytes);
Bytes packed(std::initializer_list<std::uint64_t> values);

}  // namespace culmen::conformance
