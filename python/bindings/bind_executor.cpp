#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/study/crew/lent_workers.hpp"
#include "culmen/study/source/executor_source.hpp"
#include "program_run.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {

Bytes copy_of(const nb::bytes& bytes) {
  const auto* data = reinterpret_cast<const std::byte*>(bytes.c_str());
  return {data, data + bytes.size()};
}

using ItemRow = nb::typed<nb::tuple, std::uint64_t, nb::str, nb::str, nb::object>;  // number, status, message, payload
using WorkList = std::vector<std::pair<std::uint64_t, std::vector<double>>>;        // ticket, vector

/// Held by Python, without its ways of sharing: the last owner may be the engine, which never takes the GIL.
struct FunctionHandle {
  std::shared_ptr<const ItemFunction> function;
};

/// A large payload, which Python reads in place and may change: arrays are made of it without a copy.
struct LargePayload {
  Bytes bytes;
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto& bytes = nb::inst_ptr<LargePayload>(nb::handle(self))->bytes;
  return PyBuffer_FillInfo(view, self, bytes.data(), static_cast<Py_ssize_t>(bytes.size()), 0, flags);
}

PyType_Slot slots_of_payload[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)}, {0, nullptr}};

nb::object payload_of(Bytes&& bytes) {
  constexpr std::size_t large = std::size_t{1} << 20;
  if (bytes.size() >= large) return nb::cast(LargePayload{std::move(bytes)});
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

ItemRow item_row(Finished& item) {
  auto& o = item.outcome;
  return nb::make_tuple(item.number, to_string(o.status), o.message, payload_of(std::move(o.payload)));
}

/// An Executor's items.
class ExecutorRun : public ProgramRun<ExecutorSource, item_row> {
 public:
  using ProgramRun::ProgramRun;
  FunctionHandle make_function(const SharedBytes& pickle) { return {source_->make_function(pickle)}; }

  void submit(const std::vector<ItemId>& numbers, const FunctionHandle& handle,
              const std::vector<nb::bytes>& arguments) {
    if (numbers.size() != arguments.size()) throw InputError("each item needs one number and one argument");
    std::vector<Item> items(numbers.size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = {numbers[i], handle.function, copy_of(arguments[i])};
    if (source_->push(std::move(items))) run_.offer();
  }
  bool holds(ItemId number) const { return source_->holds(number); }
  bool cancel(ItemId number) { return source_->cancel_item(number); }
  std::vector<ItemId> cancel_all() { return source_->cancel_all(); }
};

WorkList take_work(LentWorkers& lent, double timeout_s) {
  std::vector<LentWorkers::Work> work;
  {
    const nb::gil_scoped_release released;
    work = lent.take(timeout_s);
  }
  WorkList out;
  for (auto& w : work) out.emplace_back(w.ticket, std::move(w.x));
  return out;
}

void give_outcome(LentWorkers& lent, std::uint64_t ticket, const nb::bytes& encoded, double duration_s) {
  Outcome outcome;
  decode(copy_of(encoded), outcome);
  outcome.duration_s = duration_s;
  lent.give(ticket, std::move(outcome));
}

}  // namespace

void bind_executor(nb::module_& m) {
  nb::class_<LentWorkers>(
      m, "LentWorkers",
      "Evaluations for the program's own workers. Only one thread may call take(); any thread may call the others.")
      .def(nb::init<std::size_t>(), nb::arg("workers"))
      .def("take", &take_work, nb::arg("timeout_s"),
           "Tickets and vectors. Empty after timeout_s, or when the study has ended.")
      .def("give", &give_outcome, nb::arg("ticket"), nb::arg("outcome"), nb::arg("duration_s"),
           "outcome: as culmen.slot.protocol encodes it.")
      .def("fail", &LentWorkers::fail, nb::arg("sentence"),
           "The workers cannot evaluate any more; the sentence says why. The study stops.")
      .def("end", &LentWorkers::end, "No more is taken or given: take() returns at once.")
      .def_prop_ro("ended", &LentWorkers::ended);
  nb::class_<LargePayload>(m, "LargePayload", nb::type_slots(slots_of_payload), "The bytes of a large result.");
  nb::class_<FunctionHandle>(m, "ItemFunction", "A pickled function of an ExecutorRun.");
  bind_program_run<ExecutorRun>(m, "ExecutorRun")
      .def(nb::init<StudyConfig, RunOptions>(), nb::arg("config"), nb::arg("options"))
      .def("make_function", &ExecutorRun::make_function, nb::arg("pickle"))
      .def("submit", &ExecutorRun::submit, nb::arg("numbers"), nb::arg("function"), nb::arg("arguments"),
           "Each number is used once; lower ones go first. Raises InputError for too large items, and after close().")
      .def("holds", &ExecutorRun::holds, nb::arg("number"), "True if the item has not been sent to a worker.")
      .def("cancel", &ExecutorRun::cancel, nb::arg("number"), "Returns False if the item has already been sent.")
      .def("cancel_all", &ExecutorRun::cancel_all);
}

}  // namespace culmen::bindings
