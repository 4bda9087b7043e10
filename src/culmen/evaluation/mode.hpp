// The two modes of a study.
#pragma once

namespace culmen {

/// Users write `generational = true` or `false`.
enum class Mode : unsigned char {
  generational,  ///< outcomes are told in the order of their candidates: neither workers nor timing change candidates
  asynchronous,  ///< no worker waits for the results of others: candidates depend on timing
};

constexpr Mode mode_if(bool generational) { return generational ? Mode::generational : Mode::asynchronous; }

}  // namespace culmen
