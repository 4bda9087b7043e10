// NIST's Statistical Reference Datasets for nonlinear regression (tests/data/nist_strd): models, data, boxes, digits.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/space.hpp"

namespace culmen::nist {

using Values = std::vector<double>;

/// One line of data: the response as the model gives it (Nelson: its logarithm), and the predictors.
struct Observation {
  double y = 0;
  Values x;
};

/// The parameters after an exchange of equal terms, which gives the same function of the data.
using Exchange = std::function<Values(const Values&)>;

struct Model {
  std::string name;
  std::function<double(const Values& b, const Values& x)> f;
  std::vector<Exchange> exchanges = {};  ///< other parameters of the same function; empty: there are none
};

/// All 27, in alphabetical order, written by hand from the files' headers.
const std::vector<Model>& models();

struct Set {
  Model model;
  std::vector<Values> starts;  ///< the two published ones
  Values certified;
  double certified_sum = 0;
  std::vector<Observation> observations;

  /// Throws std::runtime_error where the file is not as its head says.
  static Set read(const Model& model, const std::string& folder);
  Values residuals(const Values& b) const;
  Outcome outcome(const Values& b) const;  ///< of residuals; as an evaluator gives it
  /// The minimum over the parameters of -log10 |b - certified| / |certified|, at most 11: more digits are not
  /// certified. It is the maximum over all exchanges.
  double digits(const Values& b) const;
};

/// The box of the search, from the published starts alone. If both starts of a parameter are positive, it is [least /
/// 100, greatest × 100]. Otherwise it is their range, widened by ten times its length on either side.
Space box_of(const std::vector<Values>& starts);

}  // namespace culmen::nist
