// One bind_<layer>.cpp per layer; core.cpp calls them in the order of the layers.
#pragma once
#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/evaluation/recommendation.hpp"
#include "culmen/space/named_expression.hpp"

namespace culmen::bindings {

void bind_errors(nanobind::module_& m);
void bind_space(nanobind::module_& m);
void bind_optimizer(nanobind::module_& m);
void bind_store(nanobind::module_& m);
void bind_study(nanobind::module_& m);
void bind_fit(nanobind::module_& m);
void bind_run(nanobind::module_& m);
void bind_simulation(nanobind::module_& m);
void bind_points(nanobind::module_& m);
void bind_executor(nanobind::module_& m);
void bind_ranks(nanobind::module_& m);

/// Types for the stub `_core.pyi` that are more precise than dict and list.
using Row = nanobind::typed<nanobind::dict, nanobind::str, nanobind::any>;
using Rows = nanobind::typed<nanobind::list, Row>;
using Extras = nanobind::typed<nanobind::dict, nanobind::str, double>;
/// The vector, its mean, the error of the mean, and the number of evaluations.
using RecommendedTuple = std::optional<std::tuple<std::vector<double>, double, double, std::uint64_t>>;

inline constexpr auto recommended_doc =
    "The vector, its mean value, the error of the mean, and the number of evaluations.";

/// Names and expressions.
using Expressions = std::vector<std::pair<std::string, std::string>>;
Expressions pairs_of(const std::vector<NamedExpression>& named);
std::vector<NamedExpression> named_of(const Expressions& pairs);

/// The further figures of an outcome, by name.
Extras extras_of(const Outcome& outcome);
RecommendedTuple tuple_of(const std::optional<Recommendation>& recommended);
/// Adds an outcome to a row, as keys.
void put_outcome(nanobind::dict& row, const Outcome& outcome);

}  // namespace culmen::bindings
