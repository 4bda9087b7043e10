#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "culmen/study/crew/ranks.hpp"
#include "names.hpp"

namespace nb = nanobind;

namespace culmen::bindings {

void bind_ranks(nb::module_& m) {
  nb::class_<Launch>(m, "Launch")
      .def_prop_ro("kind", getter(&Launch::kind))
      .def_ro("rank", &Launch::rank)
      .def_ro("size", &Launch::size)
      .def_prop_ro("is_rank", &Launch::is_rank);
  m.def("detect_launch", &detect_launch);
  m.def("mpi_library", &mpi_library);
  m.def(
      "serve_rank", [] { return serve_as_rank(); }, nb::call_guard<nb::gil_scoped_release>());
  m.def("serve_until_dismissed", &serve_until_dismissed, nb::call_guard<nb::gil_scoped_release>());
  m.def("dismiss_with_result", &dismiss_with_result);
  m.def("dismiss_ranks", &dismiss_ranks, nb::call_guard<nb::gil_scoped_release>());
  m.def("expect_ranks", &expect_ranks);
  m.def("abandon_ranks", &abandon_ranks, nb::arg("message"), nb::call_guard<nb::gil_scoped_release>());
  m.def("finalize_mpi", &finalize_world, nb::arg("exit_code") = 0, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace culmen::bindings
