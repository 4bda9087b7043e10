// In Python, enums are the words of the study file.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/broker/rules.hpp"
#include "culmen/optimizer/core/info.hpp"
#include "culmen/study/config/study_config.hpp"
#include "culmen/study/run/run_options.hpp"
#include "culmen/transport/mpi/launcher.hpp"

namespace culmen::bindings {

template <class E>
struct Words;
template <>
struct Words<ParameterKind> {
  static constexpr std::array all{std::pair{ParameterKind::real, "real"}, std::pair{ParameterKind::integer, "integer"},
                                  std::pair{ParameterKind::ordinal, "ordinal"},
                                  std::pair{ParameterKind::categorical, "categorical"},
                                  std::pair{ParameterKind::boolean, "boolean"}};
};
template <>
struct Words<Scale> {
  static constexpr std::array all{std::pair{Scale::linear, "linear"}, std::pair{Scale::log, "log"}};
};
template <>
struct Words<EvaluatorKind> {
  static constexpr std::array all{
      std::pair{EvaluatorKind::function, "function"}, std::pair{EvaluatorKind::python, "python"},
      std::pair{EvaluatorKind::library, "library"}, std::pair{EvaluatorKind::command, "command"},
      std::pair{EvaluatorKind::items, "items"}};
};
template <>
struct Words<Isolation> {
  static constexpr std::array all{std::pair{Isolation::none, "none"}, std::pair{Isolation::process, "process"}};
};
template <>
struct Words<ResultKind> {
  static constexpr std::array all{std::pair{ResultKind::value, "value"}, std::pair{ResultKind::residuals, "residuals"},
                                  std::pair{ResultKind::figures, "figures"}};
};
template <>
struct Words<Direction> {
  static constexpr std::array all{std::pair{Direction::minimize, "minimize"},
                                  std::pair{Direction::maximize, "maximize"}};
};
template <>
struct Words<LossKind> {
  static constexpr std::array all{std::pair{LossKind::linear, "linear"}, std::pair{LossKind::soft_l1, "soft_l1"},
                                  std::pair{LossKind::huber, "huber"}, std::pair{LossKind::cauchy, "cauchy"},
                                  std::pair{LossKind::arctan, "arctan"}};
};
template <>
struct Words<Reading> {
  static constexpr std::array all{std::pair{Reading::last_word, "last_word"}, std::pair{Reading::json, "json"},
                                  std::pair{Reading::regex, "regex"}};
};
template <>
struct Words<Keep> {
  static constexpr std::array all{std::pair{Keep::all, "all"}, std::pair{Keep::failures, "failures"},
                                  std::pair{Keep::none, "none"}};
};
template <>
struct Words<OnFailure> {
  static constexpr std::array all{std::pair{OnFailure::penalise, "penalise"}, std::pair{OnFailure::retry, "retry"},
                                  std::pair{OnFailure::stop, "stop"}};
};
template <>
struct Words<TeamPlacement> {
  static constexpr std::array all{std::pair{TeamPlacement::node, "node"}, std::pair{TeamPlacement::any, "any"}};
};
template <>
struct Words<Durability> {
  static constexpr std::array all{std::pair{Durability::process, "process"}, std::pair{Durability::power, "power"}};
};
template <>
struct Words<StopReason> {
  static constexpr auto all = stop_words;
};
template <>
struct Words<OptionRule::Type> {
  static constexpr std::array all{std::pair{OptionRule::Type::number, "number"},
                                  std::pair{OptionRule::Type::whole, "whole number"},
                                  std::pair{OptionRule::Type::word, "word"}, std::pair{OptionRule::Type::flag, "flag"}};
};
template <>
struct Words<LauncherKind> {
  static constexpr std::array all{std::pair{LauncherKind::none, "none"}, std::pair{LauncherKind::openmpi, "openmpi"},
                                  std::pair{LauncherKind::mpich, "mpich"}, std::pair{LauncherKind::slurm, "slurm"}};
};

template <class E>
std::string word_of(E value) {
  for (const auto& [e, word] : Words<E>::all) {
    if (e == value) return word;
  }
  return "unknown";
}

template <class E>
E from_word(const std::string& given) {
  std::string known;
  for (const auto& [e, word] : Words<E>::all) {
    if (word == given) return e;
    known += (known.empty() ? "\"" : ", \"") + std::string(word) + "\"";
  }
  throw InputError("\"" + given + "\" is not one of " + known);
}

/// For docstrings: 'One of "a", "b".'
template <class E>
std::string one_of() {
  std::string out = "One of ";
  for (const auto& [e, word] : Words<E>::all) out += (out.ends_with('"') ? ", \"" : "\"") + std::string(word) + "\"";
  return out + ".";
}

/// A read-write property that shows an enum member as its word.
template <class Owner, class E>
auto getter(E Owner::*member) {
  return [member](const Owner& o) { return word_of(o.*member); };
}
template <class Owner, class E>
auto setter(E Owner::*member) {
  return [member](Owner& o, const std::string& word) { o.*member = from_word<E>(word); };
}

}  // namespace culmen::bindings
