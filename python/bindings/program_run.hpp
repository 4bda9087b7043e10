// The engine of a program's queue, on its own thread: the common part of an Executor and Evaluations.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "background_run.hpp"
#include "culmen/study/source/program_source.hpp"

namespace culmen::bindings {

/// Queue: a ProgramSource. row_of: converts a Finished, which it may move from, to a Python object.
template <class Queue, auto row_of>
class ProgramRun {
 public:
  ProgramRun(StudyConfig config, RunOptions options)
      : source_(std::make_shared<Queue>()),
        run_(std::move(config), std::move(options), source_, [source = source_] { source->end(); }) {}

  void start() { run_.start(); }
  void close() {
    source_->close();
    run_.offer();
  }
  auto take(double timeout_s) {
    std::vector<Finished> finished;
    {
      const nanobind::gil_scoped_release released;
      finished = source_->take(timeout_s);
    }
    nanobind::typed<nanobind::list, decltype(row_of(finished.front()))> out;
    for (auto& one : finished) out.append(row_of(one));
    return out;
  }
  std::string message() const { return run_.message(); }
  std::string address() const { return run_.door().address; }
  std::string fingerprint() const { return run_.door().fingerprint; }
  bool ended() const { return source_->ended(); }
  void stop() { run_.stop(); }
  bool wait(double timeout_s) { return run_.wait(timeout_s); }
  const StudyResult& result(const std::string& note) { return run_.result(note); }

 protected:
  std::shared_ptr<Queue> source_;
  BackgroundRun run_;
};

template <class Bound>
nanobind::class_<Bound> bind_program_run(nanobind::module_& m, const char* name) {
  namespace nb = nanobind;
  return nb::class_<Bound>(m, name)
      .def("start", &Bound::start, nb::call_guard<nb::gil_scoped_release>(), "Raises InputError for wrong input.")
      .def("close", &Bound::close, "Accepts no more; the run ends when everything is done.")
      .def("take", &Bound::take, nb::arg("timeout_s"),
           "The finished evaluations in the order of arrival. Empty after timeout_s, or when the engine has ended.")
      .def_prop_ro("message", &Bound::message, "Why the run has ended.")
      .def_prop_ro("address", &Bound::address, "As Run.address.")
      .def_prop_ro("fingerprint", &Bound::fingerprint, "As Run.fingerprint.")
      .def_prop_ro("ended", &Bound::ended)
      .def("stop", &Bound::stop)
      .def("wait", &Bound::wait, nb::arg("timeout_s"), nb::call_guard<nb::gil_scoped_release>())
      .def("result", &Bound::result, nb::arg("note") = "", nb::rv_policy::reference_internal,
           nb::call_guard<nb::gil_scoped_release>(),
           "The same as Run.result(). The note becomes its message, in every rank.");
}

}  // namespace culmen::bindings
