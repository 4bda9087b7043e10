#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "culmen/base/process.hpp"
#include "culmen/evaluation/judge.hpp"
#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/config/mode.hpp"
#include "culmen/study/config/search.hpp"
#include "culmen/study/run/run_options.hpp"
#include "culmen/worker/command/command_evaluator.hpp"
#include "names.hpp"
#include "options.hpp"
#include "settings.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {

void set_kind(EvaluatorSpec& spec, const std::string& word) {
  static const std::array<decltype(EvaluatorSpec::how), 5> parts{FunctionSpec{}, PythonSpec{}, LibrarySpec{},
                                                                 CommandSpec{}, ItemsSpec{}};
  const auto kind = from_word<EvaluatorKind>(word);
  if (kind != spec.kind()) spec.how = parts.at(static_cast<std::size_t>(kind));
}

/// The field that some kinds have. Raises AttributeError for any other kind.
template <class T, class... Parts>
T& field_of(EvaluatorSpec& spec, const char* name, T Parts::*... members) {
  T* found = nullptr;
  const auto look = [&](auto* part, auto member) {
    if (part != nullptr) found = &(part->*member);
  };
  (look(std::get_if<Parts>(&spec.how), members), ...);
  if (found == nullptr)
    throw nb::attribute_error(fmt::format("an evaluator of kind \"{}\" has no {}", word_of(spec.kind()), name).c_str());
  return *found;
}

template <class T, class... Parts>
void bind_field(nb::class_<EvaluatorSpec>& bound, const char* name, T Parts::*... members) {
  bound.def_prop_rw(
      name, [=](EvaluatorSpec& spec) -> T { return field_of(spec, name, members...); },
      [=](EvaluatorSpec& spec, T value) { field_of(spec, name, members...) = std::move(value); });
}

/// The part of a kind. Raises AttributeError for any other kind.
template <class Part>
Part& part_of(EvaluatorSpec& spec) {
  if (auto* part = std::get_if<Part>(&spec.how)) return *part;
  throw nb::attribute_error(fmt::format("an evaluator of kind \"{}\" does not have it", word_of(spec.kind())).c_str());
}

SharedBytes& pickle_in(EvaluatorSpec& spec) {
  return field_of(spec, "pickle", &PythonSpec::pickle, &ItemsSpec::pickle);
}
/// Takes the descriptor over.
SharedBytes pickle_with(const nb::bytes& bytes, std::optional<int> descriptor) {
  const auto* data = reinterpret_cast<const std::byte*>(bytes.c_str());
  auto file = descriptor ? std::make_shared<const HeldFile>(*descriptor) : nullptr;
  return {Bytes(data, data + bytes.size()), std::move(file)};
}

CommandSpec& command_in(EvaluatorSpec& spec) {
  if (spec.kind() != EvaluatorKind::command)
    throw InputError(fmt::format("an evaluator of kind \"{}\" is not a command", word_of(spec.kind())));
  return spec.as<CommandSpec>();
}

using Objectives = std::vector<std::pair<std::string, std::string>>;  // name, direction
using Limits = std::vector<std::tuple<std::string, double, double>>;  // name, lower, upper

Objectives objectives_of(const StudyConfig& c) {
  Objectives out;
  for (const auto& o : c.goals.objectives) out.emplace_back(o.name, word_of(o.direction));
  return out;
}
void set_objectives(StudyConfig& c, const Objectives& objectives) {
  Goals goals = c.goals;
  goals.objectives.clear();
  for (const auto& [name, direction] : objectives) goals.objectives.push_back({name, from_word<Direction>(direction)});
  goals.check();
  c.goals = std::move(goals);
}

Limits limits_of(const StudyConfig& c) {
  Limits out;
  for (const auto& l : c.goals.limits) out.emplace_back(l.name, l.lower, l.upper);
  return out;
}
void set_limits(StudyConfig& c, const Limits& limits) {
  Goals goals = c.goals;
  goals.limits.clear();
  for (const auto& [name, lower, upper] : limits) goals.limits.push_back({name, lower, upper});
  goals.check();
  c.goals = std::move(goals);
}

/// `member`: Goals::derived or Goals::conditions. The space must be set before.
void set_expressions(StudyConfig& c, std::vector<NamedExpression> Goals::*member, const Expressions& expressions) {
  Goals goals = c.goals;
  goals.*member = named_of(expressions);
  c.goals = Judge(std::move(goals), c.space).goals();
}

std::optional<bool> asked_generational(const StudyConfig& c) {
  if (!c.mode) return {};
  return c.mode->mode == Mode::generational;
}
void ask_generational(StudyConfig& c, std::optional<bool> generational) {
  c.mode.reset();
  if (generational) c.mode = mode_of_user(*generational);
}

std::string mode_reason(const StudyConfig& c) { return c.mode ? to_string(c.mode->reason) : ""; }

void bind_evaluator(nb::module_& m) {
  nb::class_<SharedBytes>(m, "Pickle", "A pickled function.")
      .def(
          "__init__",
          [](SharedBytes* made, const nb::bytes& bytes, std::optional<int> descriptor) {
            new (made) SharedBytes(pickle_with(bytes, descriptor));
          },
          nb::arg("content"), nb::arg("descriptor") = nb::none(),
          "descriptor: of a file that the content names. It stays open as long as an evaluator may need it.")
      .def("__len__", &SharedBytes::size);
  nb::class_<EvaluatorSpec> spec(m, "EvaluatorSpec");
  spec.def(nb::init<>())
      .def_prop_rw(
          "kind", [](const EvaluatorSpec& e) { return word_of(e.kind()); }, &set_kind, one_of<EvaluatorKind>().c_str())
      .def_rw("base_folder", &EvaluatorSpec::base_folder)
      .def_rw("working_folder", &EvaluatorSpec::working_folder)
      .def_prop_rw(
          "pickle", [](EvaluatorSpec& e) { return pickle_in(e); },
          [](EvaluatorSpec& e, const SharedBytes& pickle) { pickle_in(e) = pickle; });
  bind_field(spec, "target", &PythonSpec::target, &LibrarySpec::target);
  bind_field(spec, "interpreter", &PythonSpec::interpreter, &ItemsSpec::interpreter);
  bind_field(spec, "command", &CommandSpec::command);
  bind_field(spec, "json_stdin", &CommandSpec::json_stdin);
  bind_settings(spec);
  bind_settings<PythonSpec>(spec, &part_of<PythonSpec>);
  bind_settings<CommandSpec>(spec, &part_of<CommandSpec>);
  spec.def(
          "add_template",
          [](EvaluatorSpec& e, std::string name, nb::bytes text) {
            command_in(e).templates.push_back({std::move(name), {text.c_str(), text.size()}});
          },
          nb::arg("name"), nb::arg("text"))
      .def(
          "add_input",
          [](EvaluatorSpec& e, std::string path, std::string name, bool link) {
            command_in(e).inputs.push_back({std::move(path), std::move(name), link});
          },
          nb::arg("path"), nb::arg("name"), nb::arg("link"))
      .def(
          "add_figure",
          [](EvaluatorSpec& e, std::string name, std::string file, const std::string& reading, std::string pattern,
             bool first) {
            command_in(e).figures.push_back(
                {std::move(name), std::move(file), from_word<Reading>(reading), std::move(pattern), first});
          },
          nb::arg("name"), nb::arg("file"), nb::arg("reading"), nb::arg("pattern"), nb::arg("first"));
  m.def("file_left_behind", &file_left_behind, nb::arg("spec"));
  m.def(
      "check_command",
      [](const Space& space, const EvaluatorSpec& spec) {
        check_command({space, spec});
      },
      nb::arg("space"), nb::arg("spec"));
}

void bind_config(nb::module_& m) {
  nb::class_<StudyConfig> config(
      m, "StudyConfig",
      "The description of a study. In generational mode, equal descriptions give the same candidates.");
  config.def(nb::init<>())
      .def("__copy__", [](const StudyConfig& c) { return StudyConfig(c); })
      .def_rw("space", &StudyConfig::space)
      .def_prop_rw("objectives", &objectives_of, &set_objectives, "Names, and \"minimize\" or \"maximize\".")
      .def_prop_rw("limits", &limits_of, &set_limits, "Name, lower and upper bound of each limited value.")
      .def_prop_rw(
          "derived", [](const StudyConfig& c) { return pairs_of(c.goals.derived); },
          [](StudyConfig& c, const Expressions& e) { set_expressions(c, &Goals::derived, e); },
          "Names and expressions of derived values; set the space before.")
      .def_prop_rw(
          "conditions", [](const StudyConfig& c) { return pairs_of(c.goals.conditions); },
          [](StudyConfig& c, const Expressions& e) { set_expressions(c, &Goals::conditions, e); },
          "Limits that are expressions; set the space before.")
      .def_prop_ro(
          "needed_figures", [](const StudyConfig& c) { return Judge(c.goals, c.space).needs(); },
          "Names of expressions, each with a name of a value that it needs.")
      .def_prop_rw(
          "residual_names", [](const StudyConfig& c) { return c.goals.residuals; },
          [](StudyConfig& c, const std::vector<std::string>& names) { c.goals.residuals = names; },
          "Names of values that are the residuals.")
      .def_prop_ro("returns_residuals", &returns_residuals)
      .def_prop_ro(
          "loss_of_residuals", [](const StudyConfig& c) { return c.goals.loss; }, "`loss` and `f_scale`.")
      .def_rw("starts", &StudyConfig::starts, "Vectors that are evaluated first.")
      .def_rw("evaluator", &StudyConfig::evaluator)
      .def_rw("optimizer", &StudyConfig::optimizer, "The name; if empty, choose_optimizer() decides.")
      .def_ro("optimizer_why", &StudyConfig::optimizer_why, "Why choose_optimizer() chose the optimizer.")
      .def_prop_rw(
          "optimizer_options", [](const StudyConfig& c) { return to_python(c.optimizer_options); },
          [](StudyConfig& c, const PythonOptions& o) { c.optimizer_options = from_python(o); })
      .def_prop_rw("generational", &asked_generational, &ask_generational, nb::arg().none(),
                   "The mode; None: settle_mode() decides.")
      .def_prop_ro("mode_reason", &mode_reason, "Why the study has this mode; empty before settle_mode() decides.")
      .def_rw("configuration", &StudyConfig::configuration, "The study file as JSON; the store keeps it.")
      .def_rw("fingerprint", &StudyConfig::fingerprint, "The result of fingerprint_of().")
      .def_rw("evaluator_identity", &StudyConfig::evaluator_identity, "The evaluator in the fingerprint.");
  bind_settings(config);
  bind_settings<StopRules>(config, [](StudyConfig& c) -> StopRules& { return c.stop; });
  bind_settings<Loss>(config, [](StudyConfig& c) -> Loss& { return c.goals.loss; });
  bind_settings<FailurePolicy>(config, [](StudyConfig& c) -> FailurePolicy& { return c.failures; });
}

void bind_loss(nb::module_& m) {
  nb::class_<Loss> loss(m, "Loss", "How residuals become the value.");
  loss.def(
          "value", [](const Loss& l, const std::vector<double>& residuals) { return l.value(residuals); },
          nb::arg("residuals"))
      .def(
          "weights",
          [](const Loss& l, const std::vector<double>& residuals) {
            std::pair<std::vector<double>, std::vector<double>> out;
            for (const double r : residuals) {
              const auto weight = l.weight(r);
              out.first.push_back(weight.slope);
              out.second.push_back(weight.curvature);
            }
            return out;
          },
          nb::arg("residuals"),
          "Slopes and curvatures: the value's derivative by a residual r is 2 slope r, its second one 2 curvature.");
  bind_settings(loss);
}

void bind_decisions(nb::module_& m) {
  m.def(
      "describe_reason", [](const std::string& word) { return to_string(from_word<StopReason>(word)); },
      nb::arg("word"), "Explains a word of Result.reason, or of a finished store.");
  nb::list signals;
  for (const int signal : stop_signals) signals.append(signal);
  m.attr("STOP_SIGNALS") = nb::tuple(signals);
  m.def("fingerprint_of", &fingerprint_of, nb::arg("config"));
  m.def("choose_optimizer", &choose_optimizer, nb::arg("config"), "Sets the optimizer if it is empty or \"auto\".");
  m.def(
      "settle_mode",
      [](StudyConfig& config, const RunOptions& options, const std::string& begun) {
        settle_mode(config, workers_of(options), begun);
      },
      nb::arg("config"), nb::arg("options"), nb::arg("begun") = "",
      "Sets `generational` if it is None. begun: the fingerprint of the study in the store.");
  m.def("begins_at_start", &begins_at_start, nb::arg("config"),
        "Whether the first candidate is the start of the space. Without a start, that is its middle.");
  m.def("can_converge", &can_converge, nb::arg("config"),
        "Whether the optimizer can end the study by a rule of its own.");
  m.def("check_optimizer", &check_optimizer, nb::arg("config"),
        "Raises InputError for an optimizer or an option that does not exist or cannot be used for this study.");
}

}  // namespace

void bind_study(nb::module_& m) {
  bind_evaluator(m);
  bind_loss(m);
  bind_config(m);
  bind_decisions(m);
}

}  // namespace culmen::bindings
