#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "background_run.hpp"
#include "bindings.hpp"
#include "culmen/base/error.hpp"
#include "culmen/study/points_source.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {

nb::dict row_of(const Finished& point) {
  const auto& o = point.outcome;
  nb::dict row;
  row["number"] = point.number;
  row["status"] = to_string(o.status);
  row["value"] = o.value;
  row["values"] = o.values;
  row["violation"] = o.violation;
  row["residuals"] = o.residuals;
  row["extras"] = extras_of(o);
  row["message"] = o.message;
  row["duration_s"] = o.duration_s;
  return row;
}

/// The engine of a program's own candidates on a thread of its own, and their queue.
class PointsRun {
 public:
  PointsRun(StudyConfig config, RunOptions options)
      : parameters_(config.space.size()),
        source_(std::make_shared<PointsSource>()),
        run_(std::move(config), std::move(options), source_, [source = source_] { source->end(); }) {}

  void start() { run_.start(); }

  void submit(std::vector<std::vector<double>> vectors) {
    for (const auto& x : vectors) {
      if (x.size() == parameters_) continue;
      throw InputError(
          fmt::format("a vector of {} numbers is given; the space has {} parameters", x.size(), parameters_));
    }
    if (source_->push(std::move(vectors))) run_.offer();
  }
  void close() {
    source_->close();
    run_.offer();
  }

  nb::list take(double timeout_s) {
    std::vector<Finished> finished;
    {
      const nb::gil_scoped_release released;
      finished = source_->take(timeout_s);
    }
    nb::list out;
    for (const auto& point : finished) out.append(row_of(point));
    return out;
  }
  bool ended() const { return source_->ended(); }
  void stop() { run_.stop(); }
  bool wait(double timeout_s) { return run_.wait(timeout_s); }
  const StudyResult& result(const std::string& note) { return run_.result(note); }

 private:
  std::size_t parameters_;
  std::shared_ptr<PointsSource> source_;
  BackgroundRun run_;
};

}  // namespace

void bind_points(nb::module_& m) {
  nb::class_<PointsRun>(m, "PointsRun")
      .def(nb::init<StudyConfig, RunOptions>(), nb::arg("config"), nb::arg("options"))
      .def("start", &PointsRun::start, nb::call_guard<nb::gil_scoped_release>())
      .def("submit", &PointsRun::submit, nb::arg("vectors"))
      .def("close", &PointsRun::close)
      .def("take", &PointsRun::take, nb::arg("timeout_s"))
      .def_prop_ro("ended", &PointsRun::ended)
      .def("stop", &PointsRun::stop)
      .def("wait", &PointsRun::wait, nb::arg("timeout_s"), nb::call_guard<nb::gil_scoped_release>())
      .def("result", &PointsRun::result, nb::arg("note") = "", nb::rv_policy::reference_internal,
           nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace culmen::bindings
