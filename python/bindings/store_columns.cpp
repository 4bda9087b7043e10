#include "store_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "culmen/base/error.hpp"

namespace culmen::bindings {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

class Columns {
 public:
  explicit Columns(std::string path) : path_(std::move(path)) {}

  void read(const Journal& journal) {
    journal.replay([this](const CallRecord& call) { add(call); });
    add_saved();
    make_room();
    if (!c_.evaluation.empty())
      journal.outcomes(c_.evaluation.front(), [this](const OutcomeRecord& record) { add(record); });
  }

  void read(const History& history) {
    const auto told = history.from(0, nowhere);
    auto in_order = told;
    std::ranges::sort(in_order, {}, [](const ToldEvaluation& t) { return t.candidate.id; });
    for (const auto& t : in_order) add(t.candidate);
    make_room();
    for (const auto& t : told) {
      c_.told[row_of(t.candidate.id)] = static_cast<std::int64_t>(t.number);
      add({t.candidate.id, t.epoch, t.attempt, t.worker, t.at_s, t.outcome});
    }
  }

  StoreColumns take() { return std::move(c_); }

 private:
  /// Candidates that a rescue saved, unless they were asked for again since.
  void add_saved() {
    const auto next = c_.evaluation.empty() ? 0 : c_.evaluation.back() + 1;
    for (const auto& candidate : saved_) {
      if (candidate.id >= next) add(candidate);
    }
  }

  void add(const CallRecord& call) {
    if (call.kind == CallKind::saved) {
      saved_.insert(saved_.end(), call.candidates.begin(), call.candidates.end());
      return;
    }
    for (const auto& candidate : call.candidates) add(candidate);
    for (const auto id : call.ids) {
      const auto row = row_of(id);
      if (row == nowhere)
        throw StoreError(fmt::format("{}: evaluation {} was told, but was never asked for", path_, id));
      if (call.kind == CallKind::tell) c_.told[row] = told_++;
      else c_.cancelled[row] = 1;
    }
  }

  void add(const Candidate& candidate) {
    if (c_.evaluation.empty()) c_.dimension = candidate.x.size();
    const bool follows = c_.evaluation.empty() || candidate.id > c_.evaluation.back();
    if (candidate.x.size() != c_.dimension || !follows)
      throw StoreError(
          fmt::format("{}: got candidate {} with {} numbers, but candidate {} must be followed by one with {}", path_,
                      candidate.id, candidate.x.size(), c_.evaluation.back(), c_.dimension));
    c_.evaluation.push_back(candidate.id);
    c_.x.insert(c_.x.end(), candidate.x.begin(), candidate.x.end());
    c_.told.push_back(-1);
    c_.cancelled.push_back(0);
  }

  void make_room() {
    const auto n = c_.evaluation.size();
    c_.status.assign(n, -1);
    for (auto* column : {&c_.value, &c_.violation, &c_.at_s, &c_.duration_s}) column->assign(n, none);
    for (auto* column : {&c_.worker, &c_.epoch, &c_.attempt}) column->assign(n, -1);
    c_.residuals.assign(n, 0);
  }

  void add(const OutcomeRecord& record) {
    const auto row = row_of(record.evaluation);
    if (row == nowhere) return;  // asked since the calls were read
    const auto& outcome = record.outcome;
    c_.status[row] = static_cast<std::int8_t>(outcome.status);
    c_.value[row] = outcome.value;
    c_.violation[row] = outcome.violation;
    c_.at_s[row] = record.at_s;
    c_.duration_s[row] = outcome.duration_s;
    c_.worker[row] = record.worker;
    c_.epoch[row] = record.epoch;
    c_.attempt[row] = record.attempt;
    c_.residuals[row] = static_cast<std::uint32_t>(outcome.residuals.size());
    if (!outcome.values.empty()) add_values(row, outcome.values);
    for (const auto& [name, figure] : outcome.extras) add_extra(row, name, figure);
  }

  void add_values(std::size_t row, const std::vector<double>& values) {
    const auto n = c_.evaluation.size();
    if (values.size() > c_.objectives) {
      std::vector<double> wider(n * values.size(), none);
      for (std::size_t i = 0; i < n; ++i)
        std::copy_n(c_.values.begin() + static_cast<std::ptrdiff_t>(i * c_.objectives), c_.objectives,
                    wider.begin() + static_cast<std::ptrdiff_t>(i * values.size()));
      c_.values = std::move(wider);
      c_.objectives = values.size();
    }
    std::ranges::copy(values, c_.values.begin() + static_cast<std::ptrdiff_t>(row * c_.objectives));
  }

  void add_extra(std::size_t row, const std::string& name, double figure) {
    auto known = extra_at_.find(name);
    if (known == extra_at_.end()) {
      if (c_.extras.size() == StoreColumns::max_extras) {
        ++c_.extras_left_out;
        return;
      }
      known = extra_at_.emplace(name, c_.extras.size()).first;
      c_.extras.emplace_back(name, std::vector<double>(c_.evaluation.size(), none));
    }
    c_.extras[known->second].second[row] = figure;
  }

  std::size_t row_of(EvaluationId id) const {
    const auto& ids = c_.evaluation;
    if (id < ids.size() && ids[id] == id) return id;  // a study of its own counts from 0
    const auto at = std::ranges::lower_bound(ids, id);
    return at != ids.end() && *at == id ? static_cast<std::size_t>(at - ids.begin()) : nowhere;
  }

  const std::string path_;  // for messages
  StoreColumns c_;
  std::vector<Candidate> saved_;
  std::int64_t told_ = 0;
  std::unordered_map<std::string, std::size_t> extra_at_;
};

}  // namespace

StoreColumns read_columns(const Journal& journal) {
  Columns columns(journal.path());
  columns.read(journal);
  return columns.take();
}

StoreColumns read_columns(const History& history) {
  Columns columns("");
  columns.read(history);
  return columns.take();
}

}  // namespace culmen::bindings
