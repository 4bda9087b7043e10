#include "culmen/study/crew/team_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "culmen/evaluation/codec.hpp"

namespace culmen {
namespace {

/// The answer of a worker: see Worker::on.
struct Result {
  std::uint64_t hash = 0;
  Outcome outcome;
  explicit Result(BytesView body) : hash(ByteReader(body).u64()) { decode(body.subspan(sizeof hash), outcome); }
};

Bytes bytes_of(std::uint64_t hash, const Outcome& outcome) {
  Bytes out;
  ByteWriter(out).u64(hash);
  encode(outcome, out);
  return out;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class Rules final : public TeamRules {
 public:
  Rules(const TeamLayout& layout, double time_limit_s) : layout_(layout), time_limit_s_(time_limit_s) {}

  /// The result of the first rank counts. Others need not have one.
  bool is_failure(WorkerId member, const FrameHead& head, BytesView body) const override {
    if (head.kind == FrameKind::hello) return !body.empty();
    if (head.kind != FrameKind::result) return true;
    const auto status = Result(body).outcome.status;
    if (layout_.is_first(member)) return status != Status::ok;
    return status == Status::failed || status == Status::crashed || status == Status::timed_out;
  }

  Bytes failure(WorkerId member, const FrameHead& head, BytesView body) const override {
    const auto who = fmt::format("rank {}: ", layout_.rank_of(member));
    if (head.kind == FrameKind::result) {
      auto result = Result(body);
      result.outcome.message = who + result.outcome.message;
      return bytes_of(result.hash, result.outcome);
    }
    Bytes out;
    const auto text = who + text_in(body);
    ByteWriter(out).raw(text.data(), text.size());
    return out;
  }

  Bytes overdue(BytesView request) const override {
    Candidate candidate;
    decode(request, candidate);
    auto outcome =
        Outcome::failure(Status::timed_out, fmt::format("the time limit of {} s was exceeded", time_limit_s_));
    outcome.duration_s = time_limit_s_;
    return bytes_of(hash_of(candidate), outcome);
  }

  std::string why_given_up(const std::optional<Answer>& failed, const std::vector<WorkerId>& silent,
                           double waited_s) const override {
    std::vector<int> ranks;
    for (const auto worker : silent) ranks.push_back(layout_.rank_of(worker));
    const auto others = fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
    if (!failed) return fmt::format("{} did not end an evaluation within {:.3g} s", others, waited_s);
    const auto why =
        failed->head.kind == FrameKind::result ? Result(failed->body).outcome.message : text_in(failed->body);
    return fmt::format(
        "rank {} ended its part of an evaluation with '{}', but {} of its team did not return within {:.3g} s",
        layout_.rank_of(failed->member), first_line(why), others, waited_s);
  }

 private:
  TeamLayout layout_;
  double time_limit_s_;
};

}  // namespace

std::unique_ptr<TeamRules> make_team_rules(const TeamLayout& layout, double time_limit_s) {
  return std::make_unique<Rules>(layout, time_limit_s);
}

}  // namespace culmen
