#include "culmen/simulation/virtual_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace culmen {
namespace {
constexpr std::size_t most_last_results = 16;
constexpr double long_delays = 20;  // times the usual one
}  // namespace

VirtualCluster::VirtualCluster(const ClusterPlan& plan, VirtualClock& clock, EvaluatorFactory factory)
    : plan_(plan), clock_(clock), factory_(std::move(factory)), random_(plan.seed, 77) {
  for (std::size_t i = 0; i < plan_.workers; ++i) schedule_join();
}

double VirtualCluster::exponential(double mean) { return -mean * std::log1p(-random_.uniform()); }

void VirtualCluster::schedule(double delay_s, Happening happening) {
  future_.emplace(clock_.now_s() + delay_s, std::move(happening));
}

void VirtualCluster::schedule_join() {
  const auto id = static_cast<WorkerId>(workers_.size());
  const double joins_s = exponential(plan_.mean_delay_s);
  workers_.push_back({std::make_shared<Worker>(factory_), true, false, {}, {}, {}, clock_.now_s() + joins_s});
  schedule(joins_s, {Kind::joined, id, {}, {}, false});
}

double VirtualCluster::delay(std::uint64_t& delayed) {
  if (plan_.delays == 0 || !chance(plan_.delays)) return exponential(plan_.mean_delay_s);
  ++delayed;
  return exponential(long_delays * plan_.mean_delay_s);
}

void VirtualCluster::send(WorkerId worker, const FrameHead& head, BytesView body) {
  if (!workers_[worker].alive) return;
  if (plan_.loses > 0 && chance(plan_.loses)) {
    ++faults_.lost_down;
    return connect_again(worker);
  }
  const Happening frame{Kind::frame_to_worker, worker, head, Bytes(body.begin(), body.end()), false};
  schedule(delay(faults_.delayed_down), frame);
  if (plan_.repeats > 0 && chance(plan_.repeats)) {
    ++faults_.repeated_down;
    schedule(delay(faults_.delayed_down), frame);
  }
}

/// As a worker of the network does: it finishes its evaluation, and what it has answered may have been lost.
void VirtualCluster::connect_again(WorkerId id) {
  if (!workers_[id].alive) return;
  const auto next = static_cast<WorkerId>(workers_.size());
  auto& old = workers_[id];
  const double joins_s = exponential(plan_.mean_delay_s);
  VirtualWorker again{
      old.worker, true, old.busy, {}, std::exchange(old.last_results, {}), {}, clock_.now_s() + joins_s};
  old.next = next;
  lose(id);
  workers_.push_back(std::move(again));
  schedule(joins_s, {Kind::joined, next, {}, {}, false});
  for (const auto& reply : workers_[next].last_results) {
    ++faults_.returned;
    schedule(joins_s + exponential(plan_.mean_delay_s), {Kind::arrived, next, reply.head, reply.body, false});
  }
}

WorkerId VirtualCluster::latest(WorkerId w) const {
  while (workers_[w].next) w = *workers_[w].next;
  return w;
}

void VirtualCluster::keep(WorkerId w, const Worker::Reply& reply) {
  if (reply.head.kind != FrameKind::result) return;
  auto& kept = workers_[w].last_results;
  kept.push_back(reply);
  if (kept.size() > most_last_results) kept.pop_front();
}

/// Messages that the relay had already sent still arrive.
void VirtualCluster::kill_relay_of(WorkerId w) {
  ++faults_.relays;
  const auto relay = w / plan_.per_relay;
  const bool is_first = plan_.per_branch > 1 && relay % plan_.per_branch == 0;
  const auto end = relay + (is_first ? plan_.per_branch : 1);
  const auto behind = [&](WorkerId other) {
    const auto its = other / plan_.per_relay;
    return its >= relay && its < end && workers_[other].alive && workers_[other].joins_s < clock_.now_s();
  };
  std::erase_if(future_, [&](const auto& item) {
    return item.second.kind == Kind::arrived && !item.second.from_former_master && behind(item.second.worker) &&
           chance(0.5);
  });
  for (WorkerId other = 0; other < workers_.size(); ++other)
    if (behind(other))
      ++faults_.behind_relays, faults_.behind_branches += other / plan_.per_relay != relay, lose(other);
}

bool VirtualCluster::receive(Sink& sink) {
  bool any = false;
  // The loop is bounded: whatever the sink sends causes only future events.
  for (std::size_t n = for_master_.size(); n > 0; --n) {
    Happening h = std::move(for_master_.front());
    for_master_.pop_front();
    any = true;
    faults_.stale += h.from_former_master;
    if (h.kind == Kind::joined) sink.joined(h.worker);
    if (h.kind == Kind::arrived && !comes_too_late(h)) sink.arrived(h.worker, h.head, h.body);
    if (h.kind == Kind::lost) workers_[h.worker].gone = true, sink.lost(h.worker, "simulated");
  }
  return any;
}

/// Results of lost workers come over other ways, but a lost worker never says that it is ready.
bool VirtualCluster::comes_too_late(const Happening& h) const {
  return h.head.kind == FrameKind::hello && workers_[h.worker].gone;
}

void VirtualCluster::sleep(double at_most_s) {
  if (std::exchange(woken_, false)) return;
  const double end = clock_.now_s() + at_most_s;
  while (for_master_.empty()) {
    if (future_.empty() && std::isinf(end))
      throw std::logic_error("the master would sleep for ever: nothing is under way and no time-out is set");
    if (future_.empty() || future_.begin()->first > end) return clock_.advance_to(end);
    clock_.advance_to(future_.begin()->first);
    Happening h = std::move(future_.begin()->second);
    future_.erase(future_.begin());
    if (h.kind == Kind::reminder) return;
    if (h.kind == Kind::frame_to_worker) take_frame(h);
    else if (h.kind == Kind::work_done) finish(h);
    else for_master_.push_back(std::move(h));
  }
}

void VirtualCluster::take_frame(Happening& h) {
  auto& w = workers_[h.worker];
  if (!w.alive) return;
  w.waiting.push_back(std::move(h));
  if (!w.busy) begin(w.waiting.back().worker);
}

void VirtualCluster::begin(WorkerId id) {
  auto& w = workers_[id];
  if (w.waiting.empty()) return;
  w.busy = true;
  Happening h = std::move(w.waiting.front());
  w.waiting.pop_front();
  h.kind = Kind::work_done;
  const double duration = h.head.kind == FrameKind::evaluate ? exponential(plan_.mean_duration_s) : 0;
  schedule(duration, std::move(h));
}

void VirtualCluster::finish(Happening& h) {
  // A set-up belongs to its connection, a result to the worker.
  if (h.head.kind == FrameKind::evaluate) h.worker = latest(h.worker);
  if (!workers_[h.worker].alive) return release(h.worker);
  workers_[h.worker].busy = false;
  const auto& reply = workers_[h.worker].worker->on(h.head, h.body);
  const double delay = this->delay(faults_.delayed_up);
  if (plan_.loses > 0 && chance(plan_.loses)) {
    ++faults_.lost_up;
    keep(h.worker, reply);
    connect_again(h.worker);
  } else if (h.head.kind != FrameKind::evaluate) {
    answer(h.worker, reply, delay);
  } else if (chance(plan_.dies)) {
    ++faults_.died;
    lose(h.worker);
  } else if (chance(plan_.answers_late)) {
    ++faults_.late;
    lose(h.worker);
    answer(h.worker, reply, delay + exponential(plan_.mean_duration_s));
  } else {
    answer(h.worker, reply, delay);
    if (chance(plan_.answers_twice))
      ++faults_.twice, answer(h.worker, reply, delay + exponential(plan_.mean_duration_s));
    if (chance(plan_.leaves)) ++faults_.left, lose(h.worker);
  }
  if (plan_.relay_dies > 0 && chance(plan_.relay_dies)) kill_relay_of(h.worker);
  if (chance(plan_.joins) || alive() == 0) ++faults_.joined, schedule_join();
  release(h.worker);
}

/// The worker, which may have connected again meanwhile, can begin its next frame.
void VirtualCluster::release(WorkerId w) {
  w = latest(w);
  workers_[w].busy = false;
  if (workers_[w].alive) begin(w);
}

void VirtualCluster::answer(WorkerId w, const Worker::Reply& reply, double delay_s) {
  keep(w, reply);
  constexpr double after_s = 1e-9;
  delay_s = std::max(delay_s, workers_[w].joins_s - clock_.now_s() + after_s);
  schedule(delay_s, {Kind::arrived, w, reply.head, reply.body, false});
  if (plan_.repeats == 0 || !chance(plan_.repeats)) return;
  ++faults_.repeated_up;
  schedule(delay_s + delay(faults_.delayed_up), {Kind::arrived, w, reply.head, reply.body, false});
}

void VirtualCluster::lose(WorkerId w) {
  workers_[w].alive = false;
  workers_[w].waiting.clear();
  schedule(exponential(plan_.mean_delay_s), {Kind::lost, w, {}, {}, false});
}

std::size_t VirtualCluster::alive() const {
  return static_cast<std::size_t>(
      std::count_if(workers_.begin(), workers_.end(), [](const VirtualWorker& w) { return w.alive; }));
}

void VirtualCluster::close(double) {
  for (auto& w : workers_) w.alive = false;
}

void VirtualCluster::restart() {
  for (auto& w : workers_) w.alive = false;
  for_master_.clear();
  std::erase_if(future_, [](const auto& item) { return item.second.kind != Kind::arrived; });
  for (auto& item : future_) item.second.from_former_master = true;
  for (std::size_t i = 0; i < plan_.workers; ++i) schedule_join();
}

}  // namespace culmen
