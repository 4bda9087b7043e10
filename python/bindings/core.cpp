#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/process.hpp"
#include "culmen/study/config/build.hpp"

namespace nb = nanobind;

namespace culmen::bindings {

void bind_errors(nb::module_& m) {
  auto base = nb::exception<Error>(m, "CulmenError", PyExc_RuntimeError);
  const auto input_bases = nb::make_tuple(base, nb::borrow(PyExc_ValueError));  // programs expect it of wrong numbers
  nb::exception<InputError>(m, "InputError", input_bases.ptr());
  nb::exception<StoreError>(m, "StoreError", base.ptr());
  nb::exception<TransportError>(m, "TransportError", base.ptr());
  for (const char* name : {"CulmenError", "InputError", "StoreError", "TransportError"}) {
    m.attr(name).attr("__module__") = "culmen";  // as users write them, in tracebacks too
  }
}

}  // namespace culmen::bindings

NB_MODULE(_core, m) {
  using namespace culmen::bindings;
  nb::set_leak_warnings(false);
  m.attr("build") = culmen::build_description();
  m.attr("__version__") = culmen::version();
  m.def("find_executable", &culmen::find_executable);
  bind_errors(m);
  bind_space(m);
  bind_optimizer(m);
  bind_store(m);
  bind_study(m);
  bind_fit(m);
  bind_run(m);
  bind_simulation(m);
  bind_points(m);
  bind_executor(m);
  bind_ranks(m);
}
