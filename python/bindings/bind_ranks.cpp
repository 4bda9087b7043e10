#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "culmen/study/crew/ranks.hpp"
#include "names.hpp"
#include "python_team.hpp"

namespace nb = nanobind;

namespace culmen::bindings {

void bind_ranks(nb::module_& m) {
  nb::class_<Launch>(m, "Launch")
      .def_prop_ro("kind", getter(&Launch::kind), one_of<LauncherKind>().c_str())
      .def_ro("rank", &Launch::rank)
      .def_ro("size", &Launch::size)
      .def_prop_ro("is_rank", &Launch::is_rank);
  m.def("detect_launch", &detect_launch);
  m.def("mpi_library", &mpi_library, "Such as \"Open MPI v4.1.4\"; empty outside a launch.");
  m.def(
      "serve_rank",
      [] {
        return serve_as_rank({{}, make_team_evaluator_here});
      },
      nb::call_guard<nb::gil_scoped_release>(),
      "In a rank other than 0: works until the master ends. Returns the master's result, or raises its error.");
  m.def(
      "serve_until_dismissed",
      [] {
        serve_until_dismissed({{}, make_team_evaluator_here});
      },
      nb::call_guard<nb::gil_scoped_release>(),
      "In a rank other than 0: works for every study and executor of rank 0.");
  m.def("dismiss_with_result", &dismiss_with_result, "In rank 0: the ranks leave with the result of the next study.");
  m.def("dismiss_ranks", &dismiss_ranks, nb::call_guard<nb::gil_scoped_release>(),
        "In rank 0: the ranks that still serve leave. Does nothing if there are none.");
  m.def("expect_ranks", &expect_ranks, "In rank 0: call this before any code that may call abandon_ranks().");
  m.def(
      "abandon_ranks",
      [](const std::string& message, const std::string& kind) {
        abandon_ranks({message, kind == "input"       ? Refusal::Kind::input
                                : kind == "store"     ? Refusal::Kind::store
                                : kind == "transport" ? Refusal::Kind::transport
                                                      : Refusal::Kind::other});
      },
      nb::arg("message"), nb::arg("kind"), nb::call_guard<nb::gil_scoped_release>(),
      "In rank 0, if nothing can be run: the other ranks leave with this error. kind: 'input', 'store', 'transport' or "
      "'other'. "
      "Does nothing if no rank waits.");
  m.def("a_rank_hangs", &a_rank_hangs, "In rank 0: whether finalize_mpi() leaves a rank behind in its evaluation.");
  m.def("finalize_mpi", &finalize_world, nb::arg("exit_code") = 0, nb::call_guard<nb::gil_scoped_release>(),
        "Ends MPI. If a rank hangs in an evaluation, this process exits at once with exit_code.");
  m.def("exit_as_rank", &exit_as_rank, nb::arg("exit_code"), nb::call_guard<nb::gil_scoped_release>(),
        "After finalize_mpi(): if this process was a rank under MPICH, it ends here, with exit handlers. MPICH's "
        "launcher "
        "ends the other ranks if one leaves without them. Otherwise returns.");
}

}  // namespace culmen::bindings
