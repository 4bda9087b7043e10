#include <nanobind/eigen/dense.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "culmen/study/run/covariance.hpp"
#include "names.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<std::string> stopping(const VectorXd& at, const VectorXd& lower, const VectorXd& upper,
                                  const VectorXd& span, const VectorXd& gradient, const VectorXd& sizes, double up) {
  std::vector<std::string> out;
  for (const auto bound : stopping_bounds({at, lower, upper, span}, gradient, sizes, up))
    out.emplace_back(bound == Bound::lower ? "lower" : bound == Bound::upper ? "upper" : "");
  return out;
}
}  // namespace

void bind_fit(nb::module_& m) {
  nb::class_<Covariance>(m, "Covariance", "Covariance of fitted parameters, which it numbers from 0.")
      .def_ro("matrix", &Covariance::matrix, "NaN in the rows and columns of parameters without an error.")
      .def_ro("rank", &Covariance::rank)
      .def_ro("undetermined", &Covariance::undetermined, "For each direction without effect, its parameters.")
      .def_ro("negative", &Covariance::negative, "Of a Hessian: directions in which the value falls.")
      .def_ro("fixed", &Covariance::fixed, "Parameters that cannot move along the constraints.")
      .def_ro("doubt", &Covariance::doubt, "Of a Hessian: the largest relative error that the errors may have.")
      .def("dof", &Covariance::dof, nb::arg("residuals"), "Degrees of freedom.");
  m.def("covariance_of_residuals", &covariance_of_residuals, nb::arg("jacobian"), nb::arg("residuals"), nb::arg("loss"),
        nb::arg("roughness"), nb::arg("normals"), "For a rise of the value by 1.");
  m.def("covariance_of_value", &covariance_of_value, nb::arg("hessian"), nb::arg("up"), nb::arg("doubt"),
        nb::arg("normals"), "For a rise of the value by `up`.");
  m.def("sandwich", &sandwich, nb::arg("covariance"), nb::arg("jacobian"), nb::arg("residuals"), nb::arg("loss"),
        "NaN without a robust loss, and without degrees of freedom.");
  m.def("stopping_bounds", &stopping, nb::arg("at"), nb::arg("lower"), nb::arg("upper"), nb::arg("span"),
        nb::arg("gradient"), nb::arg("sizes"), nb::arg("up"),
        "For each parameter: \"lower\" or \"upper\" if only this bound stops it, or an empty text.");
}

}  // namespace culmen::bindings
