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

/// What an exchange of equal terms makes of parameters: the same function of the data.
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
  /// The least over the parameters of -log10 |b - certified| / |certified|, at most 11 (so many are certified); of the
  /// exchange that gives most.
  double digits(const Values& b) const;
};

/// The box in which parameters are sought, of the published starts alone: where both starts of a parameter are
/// positive, [least / 100, greatest × 100], else their hull widened by ten times its span on either side.
Space box_of(const std::vector<Values>& starts);

}  // namespace culmen::nist
