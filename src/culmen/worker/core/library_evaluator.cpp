#include "culmen/worker/core/library_evaluator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>

#include "culmen/base/error.hpp"
#include "culmen/base/stops.hpp"
#include "culmen/worker/core/evaluator.h"
#include "culmen/worker/core/guarded.hpp"
#include "culmen/worker/core/team.hpp"

namespace culmen {
namespace {
/// The values that the function has set through the callbacks of culmen_result.
struct Answer {
  bool empty() const { return values + vectors == 0 && outcome.extras.empty() && error.empty(); }
  std::size_t values = 0;
  std::size_t vectors = 0;
  Outcome outcome;
  std::string error;
};

int set_value(void* self, double value) {
  auto& answer = *static_cast<Answer*>(self);
  ++answer.values;
  answer.outcome.value = value;
  return 0;
}

int set_residuals(void* self, const double* residuals, std::size_t n) {
  auto& answer = *static_cast<Answer*>(self);
  ++answer.vectors;
  answer.outcome.residuals.assign(residuals, residuals + n);
  return 0;
}

int set_extra(void* self, const char* name, double value) {
  static_cast<Answer*>(self)->outcome.extras.emplace_back(name, value);
  return 0;
}

int set_error(void* self, const char* text) {
  static_cast<Answer*>(self)->error = text;
  return 0;
}

std::string declaration(const std::string& name) {
  return fmt::format("int {}(const culmen_candidate* c, culmen_result* r)", name);
}

/// A function of another type, such as double f(double), sets nothing. The declaration that it must have instead.
std::string advice(const Answer& answer, const std::string& name) {
  return answer.empty() ? fmt::format("; declare it as {}", declaration(name)) : "";
}

Outcome failed(const Answer& answer, int code, const std::string& name) {
  const auto why = answer.error.empty()
                       ? fmt::format("the function returned {}; 0 means success{}", code, advice(answer, name))
                       : fmt::format("{} (code {})", answer.error, code);
  return Outcome::failure(Status::failed, why);
}

Outcome residuals_of(Answer& answer, const std::string& name) {
  if (answer.outcome.residuals.empty()) {
    return Outcome::failure(
        Status::wrong_shape,
        answer.values > 0
            ? "the function set a value; it must set a vector of residuals"
            : fmt::format("the function set no residuals; it must call culmen_set_residuals{}", advice(answer, name)));
  }
  auto outcome = Outcome::of_residuals(std::move(answer.outcome.residuals));
  outcome.extras = std::move(answer.outcome.extras);
  return outcome;
}

Outcome value_of(Answer& answer, const std::string& name) {
  if (answer.vectors > 0) {
    return Outcome::failure(
        Status::wrong_shape,
        fmt::format("the function set {} residuals; it must set one value (or write result = \"residuals\")",
                    answer.outcome.residuals.size()));
  }
  if (answer.values != 1)
    return Outcome::failure(Status::wrong_shape,
                            fmt::format("the function set {} values; it must call culmen_set_value once{}",
                                        answer.values, advice(answer, name)));
  return std::move(answer.outcome);
}

/// Whether the file contains the name that a C++ compiler gives to a function without extern "C".
bool has_cpp_function(const std::string& path, const std::string& name) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  return bytes.find(fmt::format("{}_Z{}{}", '\0', name.size(), name)) != bytes.npos;
}

std::string no_function(const std::string& path, const std::string& name) {
  const auto text = fmt::format("the library '{}' has no function '{}'", path, name);
  if (!has_cpp_function(path, name)) return text;
  return fmt::format("{} that C can call; declare it as extern \"C\" {}", text, declaration(name));
}

class LibraryEvaluator final : public Evaluator {
 public:
  LibraryEvaluator(const SetUp& set_up, const Team* team)
      : space_(set_up.space.whole()),
        team_(team),
        goals_(set_up.goals),
        result_(set_up.evaluator.result),
        function_(load(set_up.evaluator.as<LibrarySpec>().target)),
        name_(symbol_in(set_up.evaluator.as<LibrarySpec>().target)) {
    for (const auto& parameter : space_.parameters()) names_.push_back(parameter.name.c_str());
  }
  Outcome evaluate(const Candidate& candidate, Attempt attempt) override {
    return guarded([&] { return call(candidate, attempt); });
  }

 private:
  static std::string symbol_in(const std::string& target) { return target.substr(target.rfind(':') + 1); }

  /// The library is never unloaded: it may have started threads or registered handlers.
  static culmen_evaluator load(const std::string& target) {
    const auto colon = target.rfind(':');
    if (colon == target.npos || colon == 0 || colon + 1 == target.size())
      throw InputError(fmt::format("'{}' must be \"library.so:symbol\"", target));
    const auto path = target.substr(0, colon), symbol = symbol_in(target);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw InputError(fmt::format("cannot load the library '{}': {}", path, dlerror()));
    void* function = dlsym(library, symbol.c_str());
    if (function == nullptr) throw InputError(no_function(path, symbol));
    return reinterpret_cast<culmen_evaluator>(function);
  }

  Outcome call(const Candidate& candidate, Attempt attempt) const {
    Answer answer;
    const auto team = team_ != nullptr ? *team_ : Team{};
    const culmen_candidate in{CULMEN_EVALUATOR_ABI, attempt,       candidate.id,      candidate.x.size(),
                              candidate.x.data(),   names_.data(), team.communicator, team.size};
    culmen_result out{CULMEN_EVALUATOR_ABI, &answer, set_value, set_residuals, set_extra, set_error};
    const int code = function_(&in, &out);
    if (code != 0) return failed(answer, code, name_);
    if (result_ == ResultKind::figures) return figures_of(answer);
    return result_ == ResultKind::residuals ? residuals_of(answer, name_) : value_of(answer, name_);
  }

  Outcome figures_of(Answer& answer) const {
    if (answer.values > 0) name_the_value(answer.outcome, goals_);
    answer.outcome.value = 0;
    return std::move(answer.outcome);
  }

  Space space_;
  const Team* team_;
  Goals goals_;
  ResultKind result_;
  culmen_evaluator function_;
  std::string name_;
  StopsReachChildren stops_;  // made, used and destroyed by the same thread
  std::vector<const char*> names_;
};
}  // namespace

std::unique_ptr<Evaluator> make_library_evaluator(const SetUp& set_up) {
  return std::make_unique<LibraryEvaluator>(set_up, nullptr);
}

std::unique_ptr<Evaluator> make_team_evaluator(const SetUp& set_up, const Team& team) {
  if (set_up.evaluator.kind() != EvaluatorKind::library)
    throw InputError(
        "a team needs a function in a shared library, a Python function in ranks that run Python, or "
        "culmen::minimize with a function that takes a communicator");
  return std::make_unique<LibraryEvaluator>(set_up, &team);
}

}  // namespace culmen
