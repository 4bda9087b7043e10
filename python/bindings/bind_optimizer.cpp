#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "culmen/optimizer/combinators.hpp"
#include "culmen/optimizer/optimizer.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {

std::vector<std::pair<EvaluationId, std::vector<double>>> ask(Optimizer& optimizer, std::size_t n) {
  std::vector<Candidate> candidates;
  optimizer.ask(n, candidates);
  std::vector<std::pair<EvaluationId, std::vector<double>>> out;
  for (auto& c : candidates) out.emplace_back(c.id, std::move(c.x));
  return out;
}

void tell(Optimizer& optimizer, EvaluationId id, std::optional<double> value) {
  auto outcome = value ? Outcome::of_value(*value) : Outcome::failure(Status::failed, "told as failed");
  outcome.check_finite();
  optimizer.tell(id, outcome);
}

}  // namespace

void bind_optimizer(nb::module_& m) {
  nb::class_<Optimizer>(m, "Optimizer")
      .def(nb::new_([](const Space& space, const std::string& name, std::uint64_t seed, const OptimizerOptions& options,
                       const std::vector<std::vector<double>>& starts) {
             return make_search({name, options, seed, starts, false}, space);
           }),
           nb::arg("space"), nb::arg("name") = "cmaes", nb::arg("seed") = 1, nb::arg("options") = OptimizerOptions{},
           nb::arg("starts") = std::vector<std::vector<double>>{})
      .def("ask", &ask, nb::arg("n") = 1)
      .def("tell", &tell, nb::arg("evaluation"), nb::arg("value").none())
      .def("cancel", &Optimizer::cancel, nb::arg("evaluation"))
      .def_prop_ro("generational", &Optimizer::generational)
      .def_prop_ro("finished", &Optimizer::finished);
  m.def("optimizer_names", &optimizer_names);
}

}  // namespace culmen::bindings
