#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <variant>

#include "bindings.hpp"
#include "culmen/optimizer/catalogue/choice.hpp"
#include "culmen/optimizer/combine/combinators.hpp"
#include "culmen/optimizer/combine/foreign.hpp"
#include "culmen/optimizer/core/info.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "names.hpp"
#include "options.hpp"
#include "python_optimizer.hpp"

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

/// Residuals, the values of several objectives, or one value; None: it failed.
using Told = std::variant<double, std::vector<double>>;

Outcome outcome_of(const std::optional<Told>& told, bool residuals) {
  if (!told) return Outcome::failure(Status::failed, "told as failed");
  if (const auto* value = std::get_if<double>(&*told)) return Outcome::of_value(*value);
  const auto& values = std::get<std::vector<double>>(*told);
  if (residuals) return Outcome::of_residuals(values);
  auto outcome = Outcome::of_value(values.empty() ? std::numeric_limits<double>::quiet_NaN() : values.front());
  outcome.values = values;
  return outcome;
}

using Figures = std::map<std::string, double>;
using Limits = std::vector<std::tuple<std::string, double, double>>;  // name, lower, upper

Goals goals_of(const Limits& limits) {
  Goals out;
  for (const auto& [name, lower, upper] : limits) out.limits.push_back({name, lower, upper});
  out.check();
  return out;
}

void tell(Optimizer& optimizer, EvaluationId id, const std::optional<Told>& told, bool residuals, double duration_s,
          const Figures& figures, const Limits& limits) {
  auto outcome = outcome_of(told, residuals);
  outcome.duration_s = duration_s;
  outcome.extras.assign(figures.begin(), figures.end());
  judge(outcome, goals_of(limits), false);
  outcome.check_finite();
  optimizer.tell(id, outcome);
}

nb::dict entry_of(const OptionRule& rule) {
  nb::dict out;
  out["name"] = rule.name;
  out["about"] = rule.about;
  out["type"] = word_of(rule.type);
  const bool is_number = rule.type == OptionRule::Type::number || rule.type == OptionRule::Type::whole;
  if (is_number) out["lowest"] = rule.lowest, out["highest"] = rule.highest;
  if (rule.type == OptionRule::Type::word) out["words"] = rule.words;
  if (rule.standard) out["default"] = to_python(*rule.standard);
  else out["default"] = rule.otherwise;
  return out;
}

Rows catalogue() {
  nb::list out;
  for (const auto& info : optimizer_catalogue()) {
    nb::dict entry;
    entry["name"] = info.name;
    entry["about"] = info.about;
    entry["needs_residuals"] = info.needs_residuals;
    entry["needs_reals"] = info.needs_reals;
    entry["needs_order"] = info.needs_order;
    entry["needs_bounds"] = info.needs_bounds;
    entry["one_objective"] = info.one_objective;
    entry["two_objectives"] = info.two_objectives;
    entry["asynchronous"] = info.asynchronous;
    nb::list options;
    for (const auto& rule : info.options) options.append(entry_of(rule));
    entry["options"] = options;
    out.append(entry);
  }
  return out;
}

std::unique_ptr<Optimizer> make(const Space& space, const std::string& name, std::uint64_t seed,
                                const PythonOptions& options, const std::vector<std::vector<double>>& starts,
                                bool residuals, std::size_t objectives, std::uint64_t evaluations, bool generational,
                                const Limits& limits) {
  const Terms terms{{residuals, objectives, !limits.empty(), std::make_shared<Goals>(goals_of(limits))},
                    evaluations,
                    mode_if(generational)};
  return make_search({name.empty() ? default_optimizer(space, terms.yield).name : name, from_python(options), seed,
                      starts, false, terms},
                     space);
}

}  // namespace

void bind_optimizer(nb::module_& m) {
  set_foreign_maker(&make_python_optimizer);
  nb::class_<Optimizer>(m, "Optimizer")
      .def(nb::new_(&make), nb::arg("space"), nb::arg("name") = "", nb::arg("seed") = 1,
           nb::arg("options") = PythonOptions{}, nb::arg("starts") = std::vector<std::vector<double>>{},
           nb::arg("residuals") = false, nb::arg("objectives") = 1, nb::arg("evaluations") = 0,
           nb::arg("generational") = true, nb::arg("limits") = Limits{},
           "name: if empty, the space and the objectives decide. residuals: whether residuals will be told. "
           "evaluations: the budget; 0: not known. limits: name, lower and upper of each.")
      .def("ask", &ask, nb::arg("n") = 1, "At most n candidates: the number of the evaluation, and the vector.")
      .def("tell", &tell, nb::arg("evaluation"), nb::arg("told").none(), nb::arg("residuals") = false,
           nb::arg("duration_s") = 0.0, nb::arg("figures") = Figures{}, nb::arg("limits") = Limits{},
           "told: the value, the values of several objectives, or residuals; None: the evaluation failed. figures: "
           "extra values, including those of the limits. limits: the same as for the optimizer.")
      .def("resize", &Optimizer::resize, nb::arg("workers"))
      .def("cancel", &Optimizer::cancel, nb::arg("evaluation"))
      .def_prop_ro("name", &Optimizer::name)
      .def_prop_ro("remark", &Optimizer::remark, "A clause about the search so far; may be empty.")
      .def_prop_ro("generational", &Optimizer::generational)
      .def_prop_ro(
          "recommended", [](const Optimizer& o) { return tuple_of(o.recommendation()); }, recommended_doc)
      .def_prop_ro("finished", [](const Optimizer& o) { return o.finished() || o.converged(); });
  m.def(
      "optimizer_choices",
      [] {
        std::vector<std::pair<std::string, std::string>> out;
        for (const auto& choice : optimizer_choices()) out.emplace_back(choice.name, choice.why);
        return out;
      },
      "The optimizers that auto chooses from, each with its case. The first case that fits applies.");
  m.def("optimizer_names", &optimizer_names);
  m.def("unknown_optimizer", &unknown_optimizer, nb::arg("name"));
  m.def(
      "optimizer_catalogue", &catalogue,
      "One dict for each optimizer: name, about, needs_residuals, needs_reals, needs_order, needs_bounds, "
      "one_objective, "
      "two_objectives (at most), asynchronous and options.\n\n"
      "An option is a dict: name, about, type (\"number\", \"whole number\", \"word\" or \"flag\"), lowest and highest "
      "or words, and default. The default is a sentence if it is not a constant.");
}

}  // namespace culmen::bindings
