#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <future>

#include "bindings.hpp"
#include "culmen/base/error.hpp"
#include "culmen/simulation/calibration.hpp"
#include "culmen/study/simulate/simulated_run.hpp"
#include "names.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
template <>
struct Words<Distribution> {
  static constexpr std::array all{
      std::pair{Distribution::constant, "constant"}, std::pair{Distribution::exponential, "exponential"},
      std::pair{Distribution::lognormal, "lognormal"}, std::pair{Distribution::measured, "measured"}};
};
template <>
struct Words<TestFunction> {
  static constexpr std::array all{std::pair{TestFunction::sphere, "sphere"},
                                  std::pair{TestFunction::rosenbrock, "rosenbrock"},
                                  std::pair{TestFunction::rastrigin, "rastrigin"}};
};

namespace {

/// A simulated run on a C++ thread.
class BackgroundSimulation {
 public:
  BackgroundSimulation(StudyConfig config, SimulationPlan plan)
      : run_(std::move(config), std::move(plan)),
        figures_(std::async(std::launch::async, [this] { return run_.run(); })) {}
  ~BackgroundSimulation() { run_.stop(); }
  bool wait(double timeout_s) {
    const nb::gil_scoped_release released;
    return figures_.wait_for(std::chrono::duration<double>(timeout_s)) == std::future_status::ready;
  }
  void stop() noexcept { run_.stop(); }
  std::uint64_t evaluations() const { return run_.progress().evaluations; }
  SimulationFigures figures() {
    const nb::gil_scoped_release released;
    return figures_.get();
  }

 private:
  SimulatedRun run_;
  std::future<SimulationFigures> figures_;
};

void bind_plan(nb::module_& m) {
  nb::class_<NetworkModel>(m, "NetworkModel", "What messages and the store cost in a simulated cluster; seconds.")
      .def(nb::init<>())
      .def_rw("latency_s", &NetworkModel::latency_s, "Of a message between nodes, one way.")
      .def_rw("bandwidth_bytes_s", &NetworkModel::bandwidth_bytes_s, "Of the master's line, each way.")
      .def_rw("message_s", &NetworkModel::message_s, "CPU time of one side for a message between nodes.")
      .def_rw("wake_s", &NetworkModel::wake_s, "Of a frame inside a node, one way.")
      .def_rw("frame_s", &NetworkModel::frame_s, "CPU time of one side for a frame inside a node.")
      .def_rw("row_s", &NetworkModel::row_s, "Of the store's thread, for each row.")
      .def_rw("commit_s", &NetworkModel::commit_s, "Of the store's thread, for each commit.");
  m.def("measured_network", &measured_here, nb::call_guard<nb::gil_scoped_release>(),
        "Measures the model on this machine, in about half a second.");
  nb::class_<SimulationPlan>(m, "SimulationPlan")
      .def(nb::init<>())
      .def_prop_rw(
          "workers", [](const SimulationPlan& p) { return p.cluster.workers; },
          [](SimulationPlan& p, std::size_t n) { p.cluster.workers = n; })
      .def_prop_rw(
          "workers_per_node", [](const SimulationPlan& p) { return p.cluster.workers_per_node; },
          [](SimulationPlan& p, std::size_t n) { p.cluster.workers_per_node = n; })
      .def_prop_rw(
          "network", [](const SimulationPlan& p) { return p.cluster.network; },
          [](SimulationPlan& p, const NetworkModel& network) { p.cluster.network = network; })
      .def_prop_rw(
          "distribution", [](const SimulationPlan& p) { return word_of(p.durations.distribution); },
          [](SimulationPlan& p, const std::string& word) { p.durations.distribution = from_word<Distribution>(word); },
          one_of<Distribution>().c_str())
      .def_prop_rw(
          "mean_s", [](const SimulationPlan& p) { return p.durations.mean_s; },
          [](SimulationPlan& p, double s) { p.durations.mean_s = s; }, "Mean duration of an evaluation.")
      .def_prop_rw(
          "spread", [](const SimulationPlan& p) { return p.durations.spread; },
          [](SimulationPlan& p, double spread) { p.durations.spread = spread; },
          "For lognormal: standard deviation of the natural logarithm of the duration.")
      .def_prop_rw(
          "seed", [](const SimulationPlan& p) { return p.durations.seed; },
          [](SimulationPlan& p, std::uint64_t seed) { p.durations.seed = seed; }, "Of the durations.")
      .def_prop_rw(
          "measured_s", [](const SimulationPlan& p) { return p.durations.measured_s; },
          [](SimulationPlan& p, std::vector<double> s) { p.durations.measured_s = std::move(s); },
          "For measured: the duration of each evaluation; below 0: not known.")
      .def_prop_rw("function", getter(&SimulationPlan::function), setter(&SimulationPlan::function),
                   one_of<TestFunction>().c_str())
      .def_rw("prefetch", &SimulationPlan::prefetch)
      .def_rw("master_s", &SimulationPlan::master_s,
              "CPU time of the master for each frame that it receives; below 0: what the engine really takes.");
}

void bind_figures(nb::module_& m) {
  nb::class_<SimulationFigures>(m, "SimulationFigures", "The result of a simulated run; times are virtual.")
      .def_prop_ro("reason", getter(&SimulationFigures::reason), one_of<StopReason>().c_str())
      .def_prop_ro("generational", [](const SimulationFigures& f) { return f.mode == Mode::generational; })
      .def_ro("evaluations", &SimulationFigures::evaluations)
      .def_ro("nodes", &SimulationFigures::nodes)
      .def_ro("first_relays", &SimulationFigures::first_relays, "Those that talk to the master itself.")
      .def_ro("wall_s", &SimulationFigures::wall_s)
      .def_ro("utilisation", &SimulationFigures::utilisation, "Of the workers, over the whole run.")
      .def_ro("steady_s", &SimulationFigures::steady_s,
              "From the moment when all workers have work to the sending of the last candidate.")
      .def_ro("steady_utilisation", &SimulationFigures::steady_utilisation)
      .def_ro("steady_rate", &SimulationFigures::steady_rate, "Evaluations per second.")
      .def_ro("master_load", &SimulationFigures::master_load, "Share of one core in the steady part.")
      .def_ro("writer_load", &SimulationFigures::writer_load, "Share of one core.")
      .def_ro("line_load", &SimulationFigures::line_load, "Share of the bandwidth of the master's line.")
      .def_ro("relay_load", &SimulationFigures::relay_load, "Of the busiest relay: share of one core.")
      .def_ro("most_running", &SimulationFigures::most_running, "Evaluations at the same time.")
      .def_ro("frames_per_message", &SimulationFigures::frames_per_message, "Between nodes; 0: there was none.")
      .def_ro("simulated_in_s", &SimulationFigures::simulated_in_s, "CPU time of this simulation.");
}

}  // namespace

void bind_simulation(nb::module_& m) {
  bind_plan(m);
  bind_figures(m);
  nb::class_<BackgroundSimulation>(m, "Simulation", "A simulated run, which starts at once, on a C++ thread.")
      .def(nb::init<StudyConfig, SimulationPlan>(), nb::arg("config"), nb::arg("plan"))
      .def("wait", &BackgroundSimulation::wait, nb::arg("timeout_s"), "Whether it has ended.")
      .def("stop", &BackgroundSimulation::stop, "Ends it soon. From any thread.")
      .def_prop_ro("evaluations", &BackgroundSimulation::evaluations, "So far.")
      .def("figures", &BackgroundSimulation::figures,
           "Waits for the end. Only once. Raises CulmenError if the optimizer fails.");
}

}  // namespace culmen::bindings
