// Identifies the study with which a side of a connection was started.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace culmen {

/// Both sides must have the same digest. The parts, by their names for people, only tell what differs.
struct Work {
  Work(std::uint64_t digest = 0) : digest(digest) {}  // NOLINT: a digest is all that matters

  std::uint64_t digest;
  std::vector<std::pair<std::string, std::uint64_t>> parts;

  /// The names of the parts that differ, with commas between them; empty if that is not known.
  std::string difference(const Work& other) const {
    std::string out;
    for (std::size_t i = 0; i < parts.size() && parts.size() == other.parts.size(); ++i)
      if (parts[i] != other.parts[i]) out += (out.empty() ? "" : ", ") + parts[i].first;
    return out;
  }
};

}  // namespace culmen
