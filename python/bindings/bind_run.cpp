#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "background_run.hpp"
#include "bindings.hpp"
#include "culmen/base/clock.hpp"
#include "culmen/study/crew/cpus.hpp"
#include "culmen/study/crew/lent_workers.hpp"
#include "culmen/study/crew/network_workers.hpp"
#include "culmen/study/crew/thread_share.hpp"
#include "culmen/transport/network/address.hpp"
#include "culmen/transport/network/scheme.hpp"
#include "culmen/worker/core/readable.hpp"
#include "names.hpp"
#include "settings.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {
/// It may contain a text of a visitor.
std::string readable(std::string text) {
  make_readable(text);
  return text;
}

std::optional<double> best_value(const StudyResult& r) {
  return r.has_best ? std::optional(r.goals.as_given(0, r.best_outcome.value)) : std::nullopt;
}

std::vector<double> given_values(const StudyResult& r, const Outcome& outcome) {
  std::vector<double> out;
  for (std::size_t k = 0; k < outcome.values.size(); ++k) out.push_back(r.goals.as_given(k, outcome.values[k]));
  return out;
}

using FrontMember = std::tuple<EvaluationId, std::vector<double>, std::vector<double>>;

std::vector<FrontMember> front_of(const StudyResult& r) {
  std::vector<FrontMember> out;
  for (const auto& m : r.front.members()) out.emplace_back(m.candidate.id, m.candidate.x, given_values(r, m.outcome));
  return out;
}

RecommendedTuple recommended_of(const StudyResult& r) {
  auto given = r.recommended;
  if (given) given->value = r.goals.as_given(0, given->value);
  return tuple_of(given);
}

std::vector<std::string> objective_names(const StudyResult& r) {
  std::vector<std::string> out;
  for (const auto& o : r.goals.objectives) out.push_back(o.name);
  return out;
}

struct ProgressView {
  Progress p;  // the best value as given
  double elapsed_s;
  double now_s = SteadyClock().now_s();
};

/// A string of RunOptions::listening. `check` throws for a wrong one.
void bind_text(
    nb::class_<RunOptions>& bound, const char* name, std::string Listening::*member, const char* doc,
    void (*check)(const std::string&) = [](const std::string&) {}) {
  bound.def_prop_rw(
      name, [=](const RunOptions& o) { return o.listening.*member; },
      [=](RunOptions& o, const std::string& text) {
        check(text);
        o.listening.*member = text;
      },
      doc);
}

void bind_options(nb::module_& m) {
  nb::class_<RunOptions> options(m, "RunOptions",
                                 "How one start runs; none of this changes the candidates in generational mode.");
  options.def(nb::init<>())
      .def_prop_rw(
          "place", [](const RunOptions& o) { return o.place; },
          [](RunOptions& o, const std::string& word) {
            check_place(word);
            o.place = word;
          },
          fmt::format("One of \"{}\".", fmt::join(place_words(), "\", \"")).c_str())
      .def_rw("lent", &RunOptions::lent, nb::arg().none(),
              nb::for_getter(nb::sig("def lent(self) -> LentWorkers | None")), "The program's own workers.");
  bind_text(options, "listen", &Listening::address,
            "The address at which workers may join, such as tcp://0.0.0.0:7443; empty: none.",
            [](const std::string& address) {
              if (!address.empty()) parse_address(address);
            });
  bind_text(options, "certificate", &Listening::certificate,
            "The file with the certificate for wss, and its key. It is made if it does not exist.");
  bind_text(options, "token", &Listening::token, "What a worker that joins must know.");
  bind_text(options, "content", &Listening::content,
            "What the evaluator's files contain. A worker that joins must have the same.");
  options.def_prop_rw(
      "io_threads", [](const RunOptions& o) { return o.listening.io_threads; },
      [](RunOptions& o, std::size_t n) { o.listening.io_threads = n; },
      "Threads that read, decode, encrypt and write what travels to workers of other machines.");
  options.def_prop_rw(
      "largest_message_mib", [](const RunOptions& o) { return o.listening.largest_message_mib; },
      [](RunOptions& o, std::size_t n) { o.listening.largest_message_mib = n; },
      "The size of the largest message that a worker of another machine may send.");
  options.def_rw("store", &RunOptions::store, "The store's path; empty: none.")
      .def_rw("history_bytes", &RunOptions::history_bytes, "Memory for Run.history; 0: none.")
      .def_rw("resume", &RunOptions::resume, "Continue the study in the store instead of making the store.");
  bind_settings(options);
}

void bind_places(nb::module_& m) {
  nb::list places;
  for (const auto& word : place_words()) places.append(word);
  m.attr("PLACES") = nb::tuple(places);
  nb::list ways;
  for (const auto& scheme : schemes()) ways.append(nb::str(scheme.word.data(), scheme.word.size()));
  m.attr("SCHEMES") = nb::tuple(ways);
  m.def(
      "is_encrypted", [](const std::string& address) { return scheme_named(parse_address(address).scheme).encrypted; },
      nb::arg("address"), "Whether what travels to and from a run at this address is encrypted.");
  m.def(
      "is_loopback", [](const std::string& address) { return is_loopback(parse_address(address)); }, nb::arg("address"),
      "Whether only programs of this machine reach this address.");
  m.def(
      "reachable", [](const std::string& address) { return to_string(reachable(parse_address(address))); },
      nb::arg("address"), "The address with this machine's name, if it stands for all addresses of the machine.");
  m.def(
      "workers_of", [](const RunOptions& o) { return workers_of(o); }, nb::arg("options"),
      "How many workers a run with these options has in this process.");
  m.def(
      "uses_ranks", [](const RunOptions& o) { return uses_ranks(o); }, nb::arg("options"),
      "Whether the workers of a run with these options are the other ranks of this process's launch.");
  m.attr("THREAD_VARIABLES") = nb::cast(thread_variables());
  m.def("thread_share", &thread_share, nb::arg("workers"), nb::arg("evaluator"),
        "Variables that give each worker its share of the CPUs for threads of libraries; empty if the user set one.");
  m.def("usable_cpus", &usable_cpus, "How many CPUs this process may run on.");
}

void bind_network_workers(nb::module_& m) {
  nb::class_<NetworkWorkers>(m, "NetworkWorkers", "The workers of this process for a master elsewhere.")
      .def(
          "__init__",
          [](NetworkWorkers* self, StudyConfig config, std::string address, std::string fingerprint, std::string token,
             std::string content, std::size_t slots, double patience_s) {
            new (self) NetworkWorkers(std::move(config), {std::move(address), std::move(fingerprint), std::move(token),
                                                          std::move(content), slots, patience_s});
          },
          nb::arg("config"), nb::arg("address"), nb::arg("fingerprint"), nb::arg("token"), nb::arg("content"),
          nb::arg("slots"), nb::arg("patience_s"))
      .def("start", &NetworkWorkers::start, nb::call_guard<nb::gil_scoped_release>(), "Begins to join.")
      .def("wait_joined", &NetworkWorkers::wait_joined, nb::arg("timeout_s"), nb::call_guard<nb::gil_scoped_release>(),
           "Whether all workers have joined. Raises InputError if the master refuses one, TransportError if it is not "
           "reached.")
      .def("wait", &NetworkWorkers::wait, nb::arg("timeout_s"), nb::call_guard<nb::gil_scoped_release>(),
           "Whether all workers have left.")
      .def("stop", &NetworkWorkers::stop, "Leaves the study and ends the evaluations here.")
      .def_prop_ro("trouble", &NetworkWorkers::trouble, "Why they left before the end of the study; otherwise empty.")
      .def_prop_ro("evaluations", &NetworkWorkers::evaluations, "The number of evaluations that ended here.");
}

void bind_progress(nb::module_& m) {
  nb::class_<ProgressView>(m, "Progress")
      .def_prop_ro(
          "phase", [](const ProgressView& v) { return to_string(v.p.phase); },
          "\"starting\", \"replaying\", \"running\", \"stopping\" or \"done\".")
      .def_prop_ro("evaluations", [](const ProgressView& v) { return v.p.evaluations; })
      .def_prop_ro(
          "evaluations_here", [](const ProgressView& v) { return v.p.told_here; }, "The evaluations since this start.")
      .def_prop_ro(
          "budget", [](const ProgressView& v) { return v.p.budget; }, "0: no limit.")
      .def_prop_ro("best_value",
                   [](const ProgressView& v) {
                     return std::isfinite(v.p.best_value) ? std::optional(v.p.best_value) : std::nullopt;
                   })
      .def_prop_ro("busy", [](const ProgressView& v) { return v.p.busy; })
      .def_prop_ro("workers", [](const ProgressView& v) { return v.p.workers; })
      .def_prop_ro(
          "last_loss", [](const ProgressView& v) { return readable(v.p.last_loss); },
          "Why the last worker was lost; empty if none was.")
      .def_prop_ro(
          "refused", [](const ProgressView& v) { return v.p.refused; },
          "Workers of other machines that were not welcome.")
      .def_prop_ro(
          "last_refusal", [](const ProgressView& v) { return readable(v.p.last_refusal); },
          "Why the last of them was not; empty if none was.")
      .def_prop_ro("failed", [](const ProgressView& v) { return v.p.failed; })
      .def_prop_ro("retried", [](const ProgressView& v) { return v.p.retried; })
      .def_prop_ro("lost", [](const ProgressView& v) { return v.p.lost; })
      .def_prop_ro(
          "oldest",
          [](const ProgressView& v) { return v.p.oldest_since_s < 0 ? std::nullopt : std::optional(v.p.oldest); },
          "The evaluation that has run longest. None: none has run for a second.")
      .def_prop_ro(
          "oldest_for_s",
          [](const ProgressView& v) { return v.p.oldest_since_s < 0 ? 0 : v.now_s - v.p.oldest_since_s; },
          "The seconds for which `oldest` has run.")
      .def_ro("elapsed_s", &ProgressView::elapsed_s);
}

void bind_result(nb::module_& m) {
  nb::class_<StudyResult>(m, "Result")
      .def_prop_ro(
          "reason", [](const StudyResult& r) { return word_of(r.reason); }, one_of<StopReason>().c_str())
      .def_prop_ro(
          "final", [](const StudyResult& r) { return is_final(r.reason); }, "False: the study can be resumed.")
      .def_prop_ro(
          "message", [](const StudyResult& r) { return r.message; }, "One sentence.")
      .def_prop_ro("evaluations", [](const StudyResult& r) { return r.counts.told; })
      .def_prop_ro("failed", [](const StudyResult& r) { return r.counts.failed; })
      .def_prop_ro("retried", [](const StudyResult& r) { return r.counts.retried; })
      .def_prop_ro("lost", [](const StudyResult& r) { return r.counts.lost; })
      .def_prop_ro(
          "best", [](const StudyResult& r) { return r.has_best ? std::optional(r.best.x) : std::nullopt; },
          "The vector.")
      .def_prop_ro("best_evaluation", [](const StudyResult& r) { return r.best.id; })
      .def_prop_ro("best_value", &best_value)
      .def_prop_ro(
          "violation", [](const StudyResult& r) { return r.best_outcome.violation; },
          "The violation of the best candidate.")
      .def_prop_ro("objectives", &objective_names)
      .def_prop_ro(
          "values", [](const StudyResult& r) { return given_values(r, r.best_outcome); },
          "One value for each of several objectives; otherwise empty.")
      .def_prop_ro("front", &front_of, "Number of the evaluation, vector and values of each member.")
      .def_prop_ro("residuals", [](const StudyResult& r) { return r.best_outcome.residuals; })
      .def_prop_ro("extras", [](const StudyResult& r) { return extras_of(r.best_outcome); })
      .def_ro("optimizer", &StudyResult::optimizer)
      .def_ro("optimizer_why", &StudyResult::optimizer_why, "Why culmen chose the optimizer; empty: it did not.")
      .def_prop_ro("generational", [](const StudyResult& r) { return r.mode == Mode::generational; })
      .def_prop_ro(
          "evaluated_s", [](const StudyResult& r) { return r.evaluated_s; },
          "Total duration of the evaluations of this start.")
      .def_prop_ro(
          "served_s", [](const StudyResult& r) { return r.served_s; },
          "The seconds from the moment when the first worker was ready.")
      .def_prop_ro(
          "present_s", [](const StudyResult& r) { return r.present_s; },
          "Total time for which workers were there and ready.")
      .def_prop_ro(
          "remark", [](const StudyResult& r) { return r.remark; },
          "The optimizer's remark on its search; may be empty.")
      .def_prop_ro("recommended", &recommended_of, recommended_doc)
      .def_prop_ro(
          "first_failure", [](const StudyResult& r) { return r.first_failure; },
          "One sentence about the first failed evaluation; empty: there was none.")
      .def_prop_ro(
          "store_failed", [](const StudyResult& r) { return r.store_failed; },
          "The run broke because its store could not be read or written.")
      .def_ro("wall_s", &StudyResult::wall_s)
      .def_ro("workers", &StudyResult::workers)
      .def_ro("team_size", &StudyResult::team_size, "Ranks of each worker; 0: no teams.")
      .def_ro("nodes", &StudyResult::nodes, "Machines with workers that were there from the start.")
      .def_ro("store", &StudyResult::store)
      .def_prop_ro(
          "history", [](const StudyResult& r) { return std::const_pointer_cast<History>(r.history); },
          nb::for_getter(nb::sig("def history(self) -> History | None")), "The latest evaluations, without a store.");
}
void bind_background_run(nb::module_& m) {
  nb::class_<BackgroundRun>(m, "Run", "One start of a master, on a C++ thread. Use it from one Python thread.")
      .def(nb::init<StudyConfig, RunOptions>(), nb::arg("config"), nb::arg("options"))
      .def("start", &BackgroundRun::start, nb::call_guard<nb::gil_scoped_release>(),
           "Raises InputError for wrong input.")
      .def("wait", &BackgroundRun::wait, nb::arg("timeout_s"), nb::call_guard<nb::gil_scoped_release>(),
           "Whether the run is done. Other Python threads run meanwhile.")
      .def(
          "stop", [](BackgroundRun& r, const std::string& why) { r.stop(from_word<StopReason>(why)); },
          nb::arg("why") = word_of(StopReason::interrupted),
          "Asks for a clean end and returns at once; from any thread. `why` becomes the reason of the result.")
      .def_prop_ro(
          "address", [](const BackgroundRun& r) { return r.door().address; },
          "Where workers may join, after start(); empty: nowhere.")
      .def_prop_ro("workers", &BackgroundRun::workers, "Those that are there from the start; after start().")
      .def_prop_ro("nodes", &BackgroundRun::nodes, "On how many machines these are.")
      .def_prop_ro(
          "fingerprint", [](const BackgroundRun& r) { return r.door().fingerprint; },
          "Of the certificate there; empty without TLS.")
      .def("progress",
           [](const BackgroundRun& r) {
             return ProgressView{r.progress(), r.elapsed_s()};
           })
      .def_prop_ro(
          "history", [](const BackgroundRun& r) { return std::const_pointer_cast<History>(r.history()); },
          nb::for_getter(nb::sig("def history(self) -> History | None")), "It grows during the run.")
      .def(
          "result", [](BackgroundRun& r) -> const StudyResult& { return r.result(); },
          nb::rv_policy::reference_internal, nb::call_guard<nb::gil_scoped_release>(),
          "The result, after wait() was true. Raises the error of the run.");
}

}  // namespace

void bind_run(nb::module_& m) {
  bind_options(m);
  bind_places(m);
  bind_network_workers(m);
  bind_progress(m);
  bind_result(m);
  bind_background_run(m);
}

}  // namespace culmen::bindings
