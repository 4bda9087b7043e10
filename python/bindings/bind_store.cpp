#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "culmen/store/journal.hpp"

namespace nb = nanobind;

namespace culmen::bindings {

nb::dict extras_of(const Outcome& outcome) {
  nb::dict out;
  for (const auto& [name, value] : outcome.extras) out[name.c_str()] = value;
  return out;
}

namespace {

nb::dict summary(const Journal& journal) {
  const auto s = journal.summary();
  nb::dict out;
  out["asked"] = s.asked;
  out["outcomes"] = s.outcomes;
  out["told"] = s.told;
  out["failed"] = s.failed;
  out["epoch"] = s.epoch;
  out["finished"] = s.finished;
  out["owned"] = s.owned;
  out["owner"] = s.owner;
  out["last_outcome_s"] = s.last_outcome_s;
  nb::list failures;
  for (const auto& f : s.failures) {
    nb::dict row;
    row["status"] = to_string(f.status);
    row["count"] = f.count;
    row["first"] = f.first;
    row["message"] = f.message;
    failures.append(row);
  }
  out["failures"] = failures;
  out["best_value"] = s.best ? nb::cast(s.best->outcome.value) : nb::none();
  out["best_evaluation"] = s.best ? nb::cast(s.best->evaluation) : nb::none();
  out["best"] = s.best_candidate ? nb::cast(s.best_candidate->x) : nb::none();
  return out;
}

nb::list outcomes(const Journal& journal, EvaluationId first, std::size_t count) {
  nb::list out;
  journal.outcomes(
      first,
      [&](const OutcomeRecord& r) {
        nb::dict row;
        row["evaluation"] = r.evaluation;
        row["epoch"] = r.epoch;
        row["attempt"] = r.attempt;
        row["worker"] = r.worker;
        row["at_s"] = r.at_s;
        row["status"] = to_string(r.outcome.status);
        row["value"] = r.outcome.value;
        row["residuals"] = r.outcome.residuals;
        row["extras"] = extras_of(r.outcome);
        row["message"] = r.outcome.message;
        row["duration_s"] = r.outcome.duration_s;
        out.append(row);
      },
      count);
  return out;
}

const char* word(CallKind kind) {
  constexpr const char* words[] = {"ask", "tell", "cancel", "resize", "finish"};
  return words[static_cast<std::size_t>(kind)];
}

nb::list calls(const Journal& journal) {
  nb::list out;
  journal.replay([&](const CallRecord& call) {
    nb::dict row;
    nb::list candidates;
    for (const auto& c : call.candidates) candidates.append(nb::make_tuple(c.id, c.x));
    row["kind"] = word(call.kind);
    row["wanted"] = call.wanted;
    row["candidates"] = candidates;
    row["ids"] = call.ids;
    row["note"] = call.note;
    out.append(row);
  });
  return out;
}

}  // namespace

void bind_store(nb::module_& m) {
  nb::class_<Journal>(m, "Store")
      .def_static(
          "read", [](const std::string& path) { return std::make_unique<Journal>(Journal::read(path)); },
          nb::arg("path"))
      .def_prop_ro("name", [](const Journal& j) { return j.study().name; })
      .def_prop_ro("configuration", [](const Journal& j) { return j.study().configuration; })
      .def_prop_ro("fingerprint", [](const Journal& j) { return j.study().fingerprint; })
      .def_prop_ro("created_s", [](const Journal& j) { return j.study().created_s; })
      .def("summary", &summary)
      .def("outcomes", &outcomes, nb::arg("first") = 0, nb::arg("count") = 1000)
      .def("calls", &calls);
}

}  // namespace culmen::bindings
