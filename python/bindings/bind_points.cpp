#include <fmt/format.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "culmen/base/error.hpp"
#include "culmen/study/run/further.hpp"
#include "culmen/study/source/points_source.hpp"
#include "program_run.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {

Row point_row(const Finished& point) {
  Row row;
  row["number"] = point.number;
  put_outcome(row, point.outcome);
  return row;
}

/// A program's own candidates.
class PointsRun : public ProgramRun<PointsSource, point_row> {
 public:
  PointsRun(StudyConfig config, RunOptions options)
      : ProgramRun(config, std::move(options)), parameters_(config.space.size()) {}

  void submit(std::vector<std::vector<double>> vectors) {
    for (const auto& x : vectors) {
      if (x.size() == parameters_) continue;
      throw InputError(fmt::format("a vector has {} numbers, but the space has {} parameters", x.size(), parameters_));
    }
    if (source_->push(std::move(vectors))) run_.offer();
  }

 private:
  std::size_t parameters_;
};

}  // namespace

void bind_points(nb::module_& m) {
  bind_program_run<PointsRun>(m, "PointsRun")
      .def(nb::init<StudyConfig, RunOptions>(), nb::arg("config"), nb::arg("options"))
      .def("submit", &PointsRun::submit, nb::arg("vectors"), "The candidates are numbered from 0 over the whole run.");
  m.def(
      "further_config", &further_config, nb::arg("config"),
      "The study's configuration for further evaluations: no rule ends them, and they have their own working folder.");
  m.def("further_options", &further_options, nb::arg("options"),
        "The study's options for further evaluations: the same workers, but no store.");
  m.def(
      "keep_visitors", &keep_visitors, nb::arg("options"),
      "The workers of other machines that join a run with these options stay after its end, for further evaluations.");
  m.def("dismiss_visitors", &dismiss_visitors, nb::arg("options"), nb::call_guard<nb::gil_scoped_release>(),
        "Tells the workers of other machines that stayed to leave.");
  m.def("remaining_workers", &remaining_workers, nb::arg("options"),
        "The options with the workers that remain after a run: those of this machine, and those of other machines that "
        "stayed. Raises InputError if there are none.");
}

}  // namespace culmen::bindings
