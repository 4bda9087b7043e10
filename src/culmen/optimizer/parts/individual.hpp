// One member of a population.
#pragma once
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// `genes` holds every parameter, active or not: a real one as its place in [0, 1], a discrete one as the double of a
/// vector. Those of inactive parameters are inherited and mutated without effect until they come to count.
/// `steps` holds how strongly each mutates: a real one's standard deviation, the mean length of an integer's or
/// ordinal's steps, the probability that a categorical or boolean one changes.
struct Individual {
  std::vector<double> genes, steps;
  Outcome outcome = {};
};

/// What is evaluated of it.
std::vector<double> vector_of(const Space& space, const Individual& individual);

/// Anywhere in the space, with steps to begin with.
Individual random_individual(const Space& space, Random& random);
/// At that vector, likewise.
Individual individual_at(const Space& space, const std::vector<double>& vector);

}  // namespace culmen
