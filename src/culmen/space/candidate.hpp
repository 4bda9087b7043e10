// One point of the space.
#pragma once
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/base/ids.hpp"

namespace culmen {

struct Candidate {
  EvaluationId id = 0;
  std::vector<double> x;  ///< in the space's order, in the parameters' own units
  Bytes payload = {};     ///< opaque; for an Executor's item. Stores do not keep it
  bool operator==(const Candidate&) const = default;
};

}  // namespace culmen
