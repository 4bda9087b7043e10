// Copies the readable part of a damaged store into a new store.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "culmen/base/file_system.hpp"

namespace culmen {

struct Rescued {
  std::uint64_t outcomes = 0;         ///< in the new store
  std::uint64_t behind = 0;           ///< of them those behind the damage: a resume uses them if it asks for the same
  std::optional<std::uint64_t> lost;  ///< of the outcomes that the damaged one counts; none if the count is damaged
  bool finished = false;              ///< the new store has the end of the study
};

/// Makes a store at `to` from the calls of the optimizer before the first one that is damaged, and from all evaluations
/// whose candidate and outcome can be read. A resume of it evaluates the rest again. The damaged file stays as it is.
/// Throws InputError if `from` is no store or `to` exists, and StoreError if `from` is in use, or if its description of
/// the study is damaged.
Rescued rescue(const std::string& from, const std::string& to,
               std::string (*network)(const std::string& path) = network_file_system);

/// The end of a sentence on a damaged store.
std::string how_to_rescue(const std::string& path);

}  // namespace culmen
