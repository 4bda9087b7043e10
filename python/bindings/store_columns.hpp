// All evaluations of a store, with one array for each quantity.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "culmen/monitor/history.hpp"
#include "culmen/store/journal.hpp"

namespace culmen::bindings {

/// One entry (in x and values: one row) for each evaluation that was asked, in the order of asking. The memory is about
/// 80 bytes for each evaluation, plus 8 for each parameter and each further figure.
struct StoreColumns {
  std::size_t dimension = 0;   ///< numbers of a candidate
  std::size_t objectives = 0;  ///< the largest number of values of an outcome; 0: none has several
  std::vector<std::uint64_t> evaluation;
  std::vector<double> x;             ///< row by row
  std::vector<std::int8_t> status;   ///< Status; −1: no outcome
  std::vector<double> value;         ///< to be minimized; NaN if not ok
  std::vector<double> values;        ///< row by row; NaN if an outcome has fewer
  std::vector<double> violation;     ///< NaN without outcome
  std::vector<double> at_s;          ///< arrival, seconds since 1970; NaN without outcome
  std::vector<double> duration_s;    ///< NaN without outcome
  std::vector<std::int64_t> worker;  ///< −1 without outcome; the same holds for the next two
  std::vector<std::int64_t> epoch;
  std::vector<std::int64_t> attempt;
  std::vector<std::int64_t> told;        ///< its place in the order of tells, from 0; −1: it was not told
  std::vector<std::uint8_t> cancelled;   ///< 1: the optimizer was told that it will not be evaluated
  std::vector<std::uint32_t> residuals;  ///< number of residuals
  std::vector<std::pair<std::string, std::vector<double>>> extras;  ///< NaN if an outcome has none of that name
  std::uint64_t extras_left_out = 0;  ///< figures whose names came after the first max_extras
  static constexpr std::size_t max_extras = 1000;
};

/// Reads the calls, then the outcomes, as streams. Evaluations that a running master adds meanwhile are left out.
/// Throws StoreError.
StoreColumns read_columns(const Journal& journal);
/// The same for evaluations in memory.
StoreColumns read_columns(const History& history);

}  // namespace culmen::bindings
