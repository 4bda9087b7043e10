// Derivatives of residuals at the end of a fit, by differences; all points of a round are evaluated in parallel.
#pragma once
#include <Eigen/Core>
#include <string>
#include <vector>

#include "culmen/study/run/fit_frame.hpp"
#include "culmen/study/source/program_source.hpp"

namespace culmen {

/// For each parameter of the frame. `roughness`: the second difference over the first one; with noise, approximately
/// the relative error of the derivative. `failures`: why there is no derivative; empty if there is one.
struct Slopes {
  Eigen::MatrixXd jacobian;
  Eigen::VectorXd roughness;
  std::vector<std::string> failures;
};

/// Two points next to the frame's start for each parameter.
std::vector<Eigen::VectorXd> points_for_slopes(const FitFrame& frame);

/// Central differences about the frame's start, where the residuals are `middle`. If a second difference shows that the
/// evaluator is less exact than a double, the step of this parameter grows. The same rule as that of slopes() in
/// python/culmen/fit/differences.py.
class SlopesSource final : public ProgramSource {
 public:
  SlopesSource(FitFrame frame, Eigen::VectorXd middle);

  std::size_t ask(std::size_t n, std::vector<Candidate>& out) override;
  void tell(EvaluationId id, Outcome& outcome) override;
  void cancel(EvaluationId id) override;
  bool finished() const override;
  std::string name() const override { return "slopes"; }

  /// After the run. `unfinished`: why there is no derivative if the run ended before.
  Slopes slopes(const std::string& unfinished) const;

 private:
  struct Side {
    Eigen::VectorXd point, residuals;
    std::string failure;
    bool told = false;
  };
  void begin_round(const std::vector<Eigen::Index>& growing);
  void end_round();
  bool judge(Eigen::Index k, const Side& first, const Side& second);
  double offset(Eigen::Index k, const Side& side) const { return side.point[k] - frame_.start[k]; }

  FitFrame frame_;
  Eigen::VectorXd middle_, sizes_;
  Slopes slopes_;
  std::vector<Eigen::Index> growing_;  // of this round; two sides for each
  std::vector<Side> sides_;
  EvaluationId first_ = 0;  // of this round
  std::size_t asked_ = 0, open_ = 0;
  int round_ = 0;
};

}  // namespace culmen
