// The records of a damaged store that a walk over all its pages finds, also where no intact page leads to them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "culmen/store/records.hpp"

namespace culmen {

struct StrayRows {
  std::map<std::uint64_t, CallRecord> calls;  ///< by number
  std::map<EvaluationId, OutcomeRecord> outcomes;
  std::optional<StudyRecord> study;
  /// Numbers that two candidates have had. An earlier version of a page may have the outcome of the former one.
  std::set<EvaluationId> reused;
};

/// `log_of`: the store whose log has earlier versions of the pages, which may have what the last one has lost.
StrayRows find_stray_rows(const std::string& path, const std::string& log_of);

}  // namespace culmen
