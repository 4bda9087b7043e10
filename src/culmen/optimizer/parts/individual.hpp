// One member of a population.
#pragma once
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// `genes` holds every parameter, active or not: a real one as its place in [0, 1], a discrete one as the double of a
/// vector. Genes of inactive parameters are inherited and mutated; they have no effect until the parameter is active.
/// `steps` holds the strength of each gene's mutation: the standard deviation of a real one, the mean step length of an
/// integer or ordinal, the probability that a categorical or boolean one changes.
struct Individual {
  std::vector<double> genes, steps;
  Outcome outcome = {};
};

/// The vector that is evaluated for it.
std::vector<double> vector_of(const Space& space, const Individual& individual);

/// A random point of the space, with initial steps.
Individual random_individual(const Space& space, Random& random);
/// At that vector, with initial steps.
Individual individual_at(const Space& space, const std::vector<double>& vector);

}  // namespace culmen
