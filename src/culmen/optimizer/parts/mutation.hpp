// Random changes of what has no gradient: parts that methods share.
#pragma once
#include "culmen/base/random.hpp"
#include "culmen/space/parameter.hpp"

namespace culmen {

/// Mirrored at the ends of [lower, upper] as often as needed.
double mirrored(double v, double lower, double upper);
/// 0, 1, 2, … with probability p (1 - p)^k.
double geometric(double p, Random& random);
/// Any other of its choices, each as likely.
double other_choice(const Parameter& p, double choice, Random& random);
/// Of an integer or ordinal at `place`: how long a step of mean length `step` is there. On a log scale in proportion to
/// the place, at least 1.
double step_at(const Parameter& p, double step, double place);

}  // namespace culmen
