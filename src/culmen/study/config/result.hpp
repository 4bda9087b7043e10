// The result of a run, and its bytes: under MPI rank 0 sends them to the other ranks.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "culmen/base/bytes.hpp"
#include "culmen/engine/engine.hpp"
#include "culmen/evaluation/goals.hpp"
#include "culmen/evaluation/mode.hpp"

namespace culmen {

/// The result of a run. Every rank of a launch gets the same.
struct StudyResult : EngineResult {
  double wall_s = 0;
  std::uint32_t workers = 0;
  std::uint32_t team_size = 0;  ///< ranks of each worker; 0: no teams
  std::uint32_t nodes = 1;      ///< machines with workers that were there from the start
  std::string store;
  Goals goals;  ///< they say how to read the values
  std::string optimizer, optimizer_why;
  Mode mode = Mode::generational;
  std::shared_ptr<const History> history = {};  ///< of the master alone, if RunOptions::history_bytes asks for it
};

Bytes encode(const StudyResult& result);
StudyResult decode_result(BytesView in);

}  // namespace culmen
