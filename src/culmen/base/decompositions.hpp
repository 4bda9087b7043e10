// Decompositions of matrices. Eigen's templates for them take long to compile, and so are compiled only here.
#pragma once
#include <Eigen/Core>

namespace culmen {

/// Of a symmetric matrix, n × n.
struct SymmetricEigen {
  Eigen::VectorXd values;   ///< n, ascending
  Eigen::MatrixXd vectors;  ///< in columns, orthonormal
  bool converged = false;   ///< false: the others are not exact
};
/// Only the lower triangle is read.
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix);

/// Of any matrix, m × n.
struct SingularValues {
  Eigen::VectorXd values;  ///< min(m, n), descending
  Eigen::MatrixXd right;   ///< n × n, right singular vectors in columns; those beyond the values span the null space
};
/// By Jacobi's rotations after a QR decomposition: small values are as exact as the matrix allows. O(m n² + n³); a
/// second for n = 300.
SingularValues singular_values(const Eigen::MatrixXd& matrix);

}  // namespace culmen
