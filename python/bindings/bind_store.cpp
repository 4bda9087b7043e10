#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings.hpp"
#include "culmen/store/journal.hpp"
#include "culmen/store/rescue.hpp"
#include "culmen/store/schema.hpp"
#include "store_columns.hpp"

namespace nb = nanobind;

namespace culmen::bindings {

Extras extras_of(const Outcome& outcome) {
  nb::dict out;
  for (const auto& [name, value] : outcome.extras) out[name.c_str()] = value;
  return out;
}

RecommendedTuple tuple_of(const std::optional<Recommendation>& r) {
  if (!r) return {};
  return std::tuple{r->x, r->value, r->error, r->evaluations};
}

void put_outcome(nb::dict& row, const Outcome& o) {
  row["status"] = to_string(o.status);
  row["value"] = o.value;
  row["values"] = o.values;
  row["violation"] = o.violation;
  row["residuals"] = o.residuals;
  row["extras"] = extras_of(o);
  row["message"] = o.message;
  row["duration_s"] = o.duration_s;
}

namespace {

Row summary(const Journal& journal) {
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
  out["running"] = nb::none();
  if (s.running) out["running"] = nb::make_tuple(s.running->evaluation, s.running->worker, s.running->since_s);
  out["recommended"] = tuple_of(s.recommended);
  out["best_value"] = s.best ? nb::cast(s.best->outcome.value) : nb::none();
  out["best_evaluation"] = s.best ? nb::cast(s.best->evaluation) : nb::none();
  out["best"] = s.best_candidate ? nb::cast(s.best_candidate->x) : nb::none();
  return out;
}

/// As the rows of outcomes(), with the vector.
Rows told(const History& history, std::uint64_t first, std::size_t count) {
  nb::list out;
  for (const auto& t : history.from(first, count)) {
    nb::dict row;
    row["number"] = t.number;
    row["evaluation"] = t.candidate.id;
    row["x"] = t.candidate.x;
    put_outcome(row, t.outcome);
    out.append(row);
  }
  return out;
}

Rows outcomes(const Journal& journal, EvaluationId first, std::size_t count) {
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
        put_outcome(row, r.outcome);
        out.append(row);
      },
      count);
  return out;
}

const char* word(CallKind kind) {
  constexpr const char* words[] = {"ask", "tell", "cancel", "resize", "finish", "adopt", "saved"};
  return words[static_cast<std::size_t>(kind)];
}

Rows calls(const Journal& journal) {
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

/// A NumPy array that takes ownership of the vector; its shape is (rows,) or (rows, columns).
template <class T>
nb::object array_of(std::vector<T> values, std::size_t rows, std::optional<std::size_t> columns = {}) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t shape[] = {rows, columns.value_or(0)};
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), columns ? 2 : 1, shape, owner));
}

template <class Evaluations>  // Journal or History
Row columns(const Evaluations& evaluations) {
  auto c = [&] {
    const nb::gil_scoped_release release;
    return read_columns(evaluations);
  }();
  const auto n = c.evaluation.size();
  nb::dict out, extras;
  for (auto& [name, figures] : c.extras) extras[name.c_str()] = array_of(std::move(figures), n);
  out["evaluation"] = array_of(std::move(c.evaluation), n);
  out["x"] = array_of(std::move(c.x), n, c.dimension);
  out["status"] = array_of(std::move(c.status), n);
  out["value"] = array_of(std::move(c.value), n);
  out["values"] = array_of(std::move(c.values), n, c.objectives);
  out["violation"] = array_of(std::move(c.violation), n);
  out["at_s"] = array_of(std::move(c.at_s), n);
  out["duration_s"] = array_of(std::move(c.duration_s), n);
  out["worker"] = array_of(std::move(c.worker), n);
  out["epoch"] = array_of(std::move(c.epoch), n);
  out["attempt"] = array_of(std::move(c.attempt), n);
  out["told"] = array_of(std::move(c.told), n);
  out["cancelled"] = array_of(std::move(c.cancelled), n);
  out["residuals"] = array_of(std::move(c.residuals), n);
  out["extras"] = extras;
  out["extras_left_out"] = c.extras_left_out;
  return out;
}

Rows starts(const Journal& journal) {
  nb::list out;
  for (const auto& start : journal.starts()) {
    nb::dict row;
    row["epoch"] = start.epoch;
    row["started_s"] = start.started_s;
    row["host"] = start.host;
    row["pid"] = start.pid;
    row["build"] = start.build;
    out.append(row);
  }
  return out;
}

nb::list statuses() {
  nb::list out;
  for (auto s = static_cast<int>(Status::ok); s <= static_cast<int>(Status::wrong_shape); ++s)
    out.append(to_string(static_cast<Status>(s)));
  return out;
}

void keep_note(const std::string& path, const std::string& name, const std::string& text) {
  Journal::keep_note(path, name, text);
}

}  // namespace

void bind_store(nb::module_& m) {
  nb::class_<Journal>(m, "Store", "A study's store, opened for reading. A master may write it at the same time.")
      .def_static(
          "read", [](const std::string& path) { return std::make_unique<Journal>(Journal::read(path)); },
          nb::arg("path"))
      .def_static("keep_note", &keep_note, nb::arg("path"), nb::arg("name"), nb::arg("text"),
                  nb::call_guard<nb::gil_scoped_release>(),
                  "Keeps a text beside the study; an earlier text of this name is replaced.\n\n"
                  "Raises StoreError while a master has the store.")
      .def_static(
          "copy", [](const std::string& from, const std::string& to) { Journal::copy(from, to); }, nb::arg("from_path"),
          nb::arg("to_path"), nb::call_guard<nb::gil_scoped_release>(),
          "Copies a store to a new file, also while a master has it.")
      .def_static(
          "rescue",
          [](const std::string& from, const std::string& to) {
            const auto r = rescue(from, to);
            return std::tuple{r.outcomes, r.lost, r.behind, r.finished};
          },
          nb::arg("from_path"), nb::arg("to_path"), nb::call_guard<nb::gil_scoped_release>(),
          "Makes a new store from the readable part of a damaged one. Returns the number of evaluations in the new "
          "store, the number of lost ones (None: unknown), how many of the saved ones lie behind the damage, and "
          "whether the study has ended.\n\n"
          "Raises StoreError if nothing can be read.")
      .def_prop_ro("log_is_missing", &Journal::log_is_missing,
                   "The file is a copy of a store that was in use, without its write-ahead log.")
      .def("note", &Journal::note, nb::arg("name"), "The text that keep_note() kept; empty if there is none.")
      .def_prop_ro("name", [](const Journal& j) { return j.study().name; })
      .def_prop_ro("configuration", [](const Journal& j) { return j.study().configuration; })
      .def_prop_ro("fingerprint", [](const Journal& j) { return j.study().fingerprint; })
      .def_prop_ro("created_s", [](const Journal& j) { return j.study().created_s; })
      .def("summary", &summary,
           "The state of the study. It is quick for a store of any size.\n\n"
           "Keys: asked, outcomes, told, failed, epoch, finished, owned, owner, last_outcome_s, recommended, "
           "best_value, "
           "running (evaluation, worker and start in seconds since 1970 of the evaluation that has run longest), "
           "best, best_evaluation and failures. failures has one dict for each status of a failure, the most frequent "
           "first: status, count, first (the lowest evaluation) and message (of that evaluation).")
      .def("outcomes", &outcomes, nb::arg("first") = 0, nb::arg("count") = 1000,
           "The outcomes of evaluations from number `first`, one dict each.")
      .def("calls", &calls, "All calls of the optimizer in their order, for tests and tools.")
      .def(
          "columns", &columns<Journal>,
          "The store as NumPy arrays. Each has one entry for each evaluation, in the order of asking.\n\n"
          "Keys: evaluation, x (a row each), status (an index of STATUSES; -1: no outcome), value, values (a row each; "
          "no columns unless there are several objectives), violation, at_s, duration_s, worker, epoch, attempt, told "
          "(position in the order of telling; -1: not told), cancelled (0 or 1), residuals (their number), extras (a "
          "dict "
          "of arrays) and extras_left_out. NaN or -1 means that there is no entry.")
      .def("starts", &starts, "The starts of a master, one dict each: epoch, started_s, host, pid and build.")
      .def_prop_ro(
          "build", [](const Journal& j) { return j.study().build; }, "The build of culmen that made the store.");
  nb::class_<History>(m, "History", "The latest evaluations of a run, in memory.")
      .def("told", &told, nb::arg("first"), nb::arg("count"),
           "Evaluations in the order of telling, from number `first`, one dict each.")
      .def_prop_ro("count", &History::count, "The number of evaluations, with the dropped ones.")
      .def_prop_ro("dropped", &History::dropped, "The number of those that are not kept.")
      .def("columns", &columns<History>, "As Store.columns().");
  m.attr("STATUSES") = statuses();  // of the codes in columns()["status"]
  m.def("files_of_store", &files_of_store, nb::arg("path"),
        "The file of a store, its log and its index; not all of them need to exist.");
  m.def("how_to_rescue", &how_to_rescue, nb::arg("path"), "For a sentence about a damaged store: what to write.");
}

}  // namespace culmen::bindings
