#include "culmen/optimizer/combine/chain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "culmen/base/error.hpp"
#include "culmen/base/near_word.hpp"
#include "culmen/evaluation/front.hpp"
#include "culmen/optimizer/combine/combinators.hpp"
#include "culmen/optimizer/core/info.hpp"
#include "culmen/optimizer/core/remembering.hpp"
#include "culmen/optimizer/parts/inner_jobs.hpp"

namespace culmen {
namespace {
constexpr const char* own_share = "evaluations";
constexpr std::uint64_t patience_per_parameter = 100;

struct Link {
  std::string name;
  OptimizerOptions options;
  std::uint64_t evaluations = 0;  // 0: until it no longer improves
  std::string library = {};
};

struct LinkCandidate {
  std::size_t link;
  EvaluationId inner;
  std::vector<double> x;
};

class Chain final : public Remembering<LinkCandidate> {
 public:
  Chain(std::vector<Link> links, const Space& space, std::uint64_t seed, const Terms& terms)
      : links_(std::move(links)), space_(space), seed_(seed), terms_(terms) {
    enter(0);
  }
  Mode mode() const override { return terms_.mode; }
  bool finished() const override { return is_last() && inner_->finished(); }
  bool converged() const override { return is_last() && inner_->converged(); }
  bool begins_at_start() const override { return link_ == 0 && inner_->begins_at_start(); }
  bool waits_for_starts() const override { return link_ == 0 && inner_->waits_for_starts(); }
  std::string name() const override {
    std::vector<std::string> names;
    for (const auto& link : links_) names.push_back(link.name);
    return fmt::format("{}", fmt::join(names, ","));
  }
  std::string library() const override {
    std::vector<std::string> libraries;
    for (const auto& link : links_)
      if (!link.library.empty()) libraries.push_back(link.library);
    return fmt::format("{}", fmt::join(libraries, ", "));
  }
  std::string remark() const override {
    const auto more = inner_->remark();
    return fmt::format("reached {}, optimizer {} of {}{}{}", links_[link_].name, link_ + 1, links_.size(),
                       more.empty() ? "" : ": ", more);
  }
  std::optional<Recommendation> recommendation() const override { return inner_->recommendation(); }
  void resize(std::size_t workers) override {
    workers_ = workers;
    inner_->resize(workers);
  }
  void hear(const std::vector<double>& x, const Outcome& outcome) override {
    note(x, outcome);
    inner_->hear(x, outcome);
  }

 private:
  bool is_last() const { return link_ + 1 == links_.size(); }
  std::uint64_t patience() const { return patience_per_parameter * (space_.size() + 1); }
  void enter(std::size_t link);
  /// Continues this link or starts the next one.
  void go_on();
  void do_ask(std::size_t n, Asked& out) override;
  void do_tell(EvaluationId id, LinkCandidate&& candidate, const Outcome& outcome) override;
  void do_cancel(EvaluationId id, LinkCandidate&& candidate) override;
  std::function<Bytes()> do_job() override { return jobs_.next(); }
  void do_adopt(const Bytes& result) override { jobs_.adopt(result); }
  void note(const std::vector<double>& x, const Outcome& outcome);

  const std::vector<Link> links_;
  const Space space_;
  const std::uint64_t seed_;
  const Terms terms_;
  std::unique_ptr<Optimizer> inner_;
  InnerJobs jobs_;  // of this link
  std::size_t link_ = 0, workers_ = 0;
  std::uint64_t left_ = 0;  // to be asked before go_on()
  std::uint64_t idle_ = 0;  // results of this link since its last improvement
  std::vector<Candidate> asked_;
  std::size_t open_of_link_ = 0;
  bool improved_ = false;  // since this link or its last block began
  std::vector<double> best_x_;
  Outcome best_ = Outcome::failure(Status::failed, {});
  Front front_;  // for several objectives
};

void Chain::enter(std::size_t link) {
  link_ = link;
  const bool first = link == 0;
  const Space from = first || best_x_.empty() ? space_ : beginning_at(space_, best_x_);
  inner_ = make_optimizer(links_[link].name, from, seed_ + link, links_[link].options,
                          {terms_.yield, links_[link].evaluations, terms_.mode, terms_.edition});
  if (!space_.constraints().empty() && !terms_.yield.infeasible) inner_ = feasible_only(std::move(inner_), space_);
  jobs_ = {};
  jobs_.add(*inner_);
  if (workers_ > 0) inner_->resize(workers_);
  if (!first && !best_x_.empty()) inner_->hear(best_x_, best_);
  for (const auto& m : front_.members()) inner_->hear(m.candidate.x, m.outcome);
  left_ = is_last() ? std::numeric_limits<std::uint64_t>::max() : links_[link].evaluations;
  if (left_ == 0) left_ = patience();
  idle_ = 0;
  open_of_link_ = 0;
  improved_ = false;
}

/// Without generations, results arrive while many candidates are still out. Results count then, not asked candidates.
void Chain::go_on() {
  const bool by_share = links_[link_].evaluations > 0;
  const bool has_results = generational() || !best_x_.empty();
  const bool idle = generational() ? !improved_ : idle_ >= patience();
  if (has_results && (by_share || idle)) return enter(link_ + 1);
  left_ = generational() ? patience() : 1;
  improved_ = false;
}

void Chain::do_ask(std::size_t n, Asked& out) {
  while (n > 0) {
    const bool may_switch = !generational() || open_of_link_ == 0;
    const bool converged = may_switch && !is_last() && inner_->converged();
    if (converged) enter(link_ + 1);
    else if (left_ == 0 && may_switch) go_on();
    asked_.clear();
    const std::size_t got = inner_->ask(static_cast<std::size_t>(std::min<std::uint64_t>(n, left_)), asked_);
    for (const auto& c : asked_) out.give(c.x, {link_, c.id, c.x});
    open_of_link_ += got;
    left_ -= got;
    n -= got;
    const bool told_enough = open_of_link_ == 0 || !best_x_.empty();
    const bool ended = got == 0 && may_switch && told_enough && inner_->finished() && !is_last();
    if (ended) enter(link_ + 1);
    else if (left_ > 0 || !may_switch) return;
  }
}

void Chain::do_tell(EvaluationId, LinkCandidate&& candidate, const Outcome& outcome) {
  note(candidate.x, outcome);
  if (candidate.link != link_) return inner_->hear(candidate.x, outcome);
  --open_of_link_;
  ++idle_;
  inner_->tell(candidate.inner, outcome);
}

void Chain::do_cancel(EvaluationId, LinkCandidate&& candidate) {
  if (candidate.link != link_) return;
  --open_of_link_;
  inner_->cancel(candidate.inner);
}

void Chain::note(const std::vector<double>& x, const Outcome& outcome) {
  if (outcome.values.size() > 1 && outcome.feasible()) front_.add(Candidate{0, x}, outcome);
  if (!better(outcome, best_)) return;
  best_ = outcome;
  best_x_ = x;
  improved_ = true;
  idle_ = 0;
}

OptimizerOptions options_of(const std::string& link, const OptimizerOptions& all) {
  OptimizerOptions own;
  for (const auto& [name, value] : all) {
    if (name.starts_with(link + ".")) own.emplace(name.substr(link.size() + 1), value);
  }
  return own;
}

/// The first link that has such an option; if none has, the first link.
std::string owner_of(const std::string& option, const std::vector<std::string>& links) {
  const auto owner = std::ranges::find_if(links, [&](const std::string& link) {
    const auto* info = find_optimizer(link);
    return info != nullptr && std::ranges::find(info->options, option, &OptionRule::name) != info->options.end();
  });
  return owner != links.end() ? *owner : links.front();
}

void check_prefixes(const std::string& chain, const std::vector<std::string>& links, const OptimizerOptions& options) {
  for (const auto& [name, value] : options) {
    const auto dot = name.find('.');
    const auto prefix = name.substr(0, dot);
    if (dot != std::string::npos && std::ranges::find(links, prefix) != links.end()) continue;
    const auto option = dot == std::string::npos ? name : name.substr(dot + 1);
    const auto mistake = dot == std::string::npos
                             ? "must begin with the name of its optimizer"
                             : fmt::format("names no optimizer of this chain{}", did_you_mean(prefix, links));
    throw InputError(fmt::format("optimizer '{}': option '{}' {}; write it as '{}.{}'", chain, name, mistake,
                                 owner_of(option, links), option));
  }
}

std::uint64_t taken_from(OptimizerOptions& options, const std::string& link) {
  const auto found = options.extract(own_share);
  if (found.empty()) return 0;
  const auto* number = std::get_if<double>(&found.mapped());
  if (number == nullptr || !(*number >= 1 && *number <= 1e15) || *number != std::floor(*number))
    throw InputError(fmt::format("optimizer '{}': option 'evaluations' is {}, it must be a whole number from 1 to 1e15",
                                 link, to_string(found.mapped())));
  return static_cast<std::uint64_t>(*number);
}

/// The remaining evaluations are shared by the links without a number and the last link.
void share_out(std::vector<Link>& links, std::uint64_t evaluations) {
  std::uint64_t said = 0, silent = 1;
  for (std::size_t k = 0; k + 1 < links.size(); ++k) {
    said += links[k].evaluations;
    if (links[k].evaluations == 0) ++silent;
  }
  if (evaluations <= said) return;
  const std::uint64_t each = std::max<std::uint64_t>(1, (evaluations - said) / silent);
  for (auto& link : links) {
    if (link.evaluations == 0) link.evaluations = each;
  }
}
}  // namespace

bool is_chain(std::string_view name) { return name.find(',') != std::string_view::npos; }

std::vector<std::string> links_of(std::string_view name) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= name.size();) {
    const auto end = std::min(name.find(',', begin), name.size());
    const auto word = name.substr(begin, end - begin);
    const auto first = std::min(word.find_first_not_of(' '), word.size());
    const auto last = word.find_last_not_of(' ');
    out.emplace_back(word.substr(first, last == std::string_view::npos ? 0 : last - first + 1));
    begin = end + 1;
  }
  return out;
}

std::unique_ptr<Optimizer> make_chain(const std::string& name, const Space& space, std::uint64_t seed,
                                      const OptimizerOptions& options, const Terms& terms) {
  const auto names = links_of(name);
  check_prefixes(name, names, options);
  std::vector<Link> links;
  for (const auto& link : names) {
    auto own = options_of(link, options);
    const auto evaluations = taken_from(own, link);
    const auto library = make_optimizer(link, space, seed, own, terms)->library();
    links.push_back({link, std::move(own), evaluations, library});
  }
  share_out(links, terms.evaluations);
  return std::make_unique<Chain>(std::move(links), space, seed, terms);
}

}  // namespace culmen
