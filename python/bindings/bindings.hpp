// One bind_<layer>.cpp per layer; core.cpp calls them in the order of the layers.
#pragma once
#include <nanobind/nanobind.h>

#include <optional>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/evaluation/recommendation.hpp"

namespace culmen::bindings {

void bind_errors(nanobind::module_& m);
void bind_space(nanobind::module_& m);
void bind_optimizer(nanobind::module_& m);
void bind_store(nanobind::module_& m);
void bind_study(nanobind::module_& m);
void bind_points(nanobind::module_& m);
void bind_executor(nanobind::module_& m);
void bind_ranks(nanobind::module_& m);

/// An outcome's further figures by name.
nanobind::dict extras_of(const Outcome& outcome);
/// A tuple of vector, mean, its error, and evaluations; or None.
nanobind::object tuple_of(const std::optional<Recommendation>& recommended);
/// An outcome as keys of a row.
void put_outcome(nanobind::dict& row, const Outcome& outcome);

}  // namespace culmen::bindings
