#include "python_team.hpp"

#include <nanobind/nanobind.h>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/worker/core/evaluator.hpp"
#include "culmen/worker/core/guarded.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {

/// Calls culmen.run.team.Member, which has the interface of a slot. An object of Python outlives the interpreter's
/// other threads only with the GIL.
class PythonTeamEvaluator final : public Evaluator {
 public:
  PythonTeamEvaluator(const SetUp& set_up, const Team& team) : team_(team) {
    const auto bytes = encode(set_up);
    const nb::gil_scoped_acquire gil;
    try {
      member_ = nb::module_::import_("culmen.run.team").attr("Member")(as_bytes(bytes), team.communicator);
    } catch (nb::python_error& error) {
      throw InputError(nb::str(error.value()).c_str());
    }
  }
  ~PythonTeamEvaluator() override {
    const nb::gil_scoped_acquire gil;
    member_.reset();
  }
  Outcome evaluate(const Candidate& candidate, Attempt attempt) override {
    return guarded([&] { return ask(candidate, attempt); });
  }

 private:
  static nb::bytes as_bytes(BytesView bytes) { return nb::bytes(bytes.data(), bytes.size()); }

  Outcome ask(const Candidate& candidate, Attempt attempt) {
    clear(request_);
    ByteWriter(request_).u32(attempt);
    encode(candidate, request_);
    Outcome outcome;
    const nb::gil_scoped_acquire gil;
    try {
      const auto answer = nb::cast<nb::bytes>(member_.attr("evaluate")(as_bytes(request_), team_.communicator));
      decode({static_cast<const std::byte*>(answer.data()), answer.size()}, outcome);
    } catch (nb::python_error& error) {
      return Outcome::failure(Status::failed, error.what());
    }
    if (outcome.ok() && !outcome.residuals.empty()) outcome.value = Outcome::of_residuals(outcome.residuals).value;
    return outcome;
  }

  const Team& team_;
  nb::object member_;
  Bytes request_;
};

}  // namespace

std::unique_ptr<Evaluator> make_team_evaluator_here(const SetUp& set_up, const Team& team) {
  if (set_up.evaluator.kind() != EvaluatorKind::python) return make_team_evaluator(set_up, team);
  return std::make_unique<PythonTeamEvaluator>(set_up, team);
}

}  // namespace culmen::bindings
