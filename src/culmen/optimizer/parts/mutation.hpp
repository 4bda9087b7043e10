// Random changes of genes: parts that methods share.
#pragma once
#include "culmen/base/random.hpp"
#include "culmen/space/parameter.hpp"

namespace culmen {

/// `v`, mirrored at the ends of [lower, upper] as often as needed.
double mirrored(double v, double lower, double upper);
/// 0, 1, 2, … with probability p (1 - p)^k.
double geometric(double p, Random& random);
/// Any other choice of the parameter, all equally likely.
double other_choice(const Parameter& p, double choice, Random& random);
/// For an integer or ordinal at `place`: the actual length of a step of mean length `step`. On a log scale it is
/// proportional to the place, and at least 1.
double step_at(const Parameter& p, double step, double place);

}  // namespace culmen
