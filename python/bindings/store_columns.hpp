// All evaluations of a store, one array a quantity.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "culmen/store/journal.hpp"

namespace culmen::bindings {

/// One entry (of x and values: one row) an evaluation that was asked, in the order of asking; they grow by about
/// 80 bytes an evaluation, 8 a parameter and 8 a further figure.
struct StoreColumns {
  std::size_t dimension = 0;   ///< numbers of a candidate
  std::size_t objectives = 0;  ///< the most values of an outcome; 0: none has several
  std::vector<std::uint64_t> evaluation;
  std::vector<double> x;             ///< row by row
  std::vector<std::int8_t> status;   ///< Status; −1: no outcome
  std::vector<double> value;         ///< to be minimized; NaN unless ok
  std::vector<double> values;        ///< row by row; NaN where an outcome has fewer
  std::vector<double> violation;     ///< NaN without outcome
  std::vector<double> at_s;          ///< arrival, seconds since 1970; NaN without outcome
  std::vector<double> duration_s;    ///< NaN without outcome
  std::vector<std::int64_t> worker;  ///< −1 without outcome; so are the next two
  std::vector<std::int64_t> epoch;
  std::vector<std::int64_t> attempt;
  std::vector<std::int64_t> told;        ///< its place in the order of being told, from 0; −1: was not told
  std::vector<std::uint8_t> cancelled;   ///< 1: the optimizer was told that it will not be evaluated
  std::vector<std::uint32_t> residuals;  ///< how many
  std::vector<std::pair<std::string, std::vector<double>>> extras;  ///< NaN where an outcome has none of that name
  std::uint64_t extras_left_out = 0;  ///< figures whose names came after the first max_extras
  static constexpr std::size_t max_extras = 1000;
};

/// Reads the calls, then the outcomes, streaming; what a running master asks meanwhile is left out. Throws StoreError.
StoreColumns read_columns(const Journal& journal);

}  // namespace culmen::bindings
