#include "culmen/simulation/virtual_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace culmen {

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
  workers_.push_back({std::make_unique<Worker>(factory_), true, false, {}});
  schedule(exponential(plan_.mean_delay_s), {Kind::joined, id, {}, {}, false});
}

void VirtualCluster::send(WorkerId worker, const FrameHead& head, BytesView body) {
  schedule(exponential(plan_.mean_delay_s),
           {Kind::frame_to_worker, worker, head, Bytes(body.begin(), body.end()), false});
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
    if (h.kind == Kind::arrived) sink.arrived(h.worker, h.head, h.body);
    if (h.kind == Kind::lost) sink.lost(h.worker, "simulated");
  }
  return any;
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
  if (!workers_[h.worker].alive) return;
  workers_[h.worker].busy = false;
  const auto& reply = workers_[h.worker].worker->on(h.head, h.body);
  const double delay = exponential(plan_.mean_delay_s);
  if (h.head.kind != FrameKind::evaluate) {
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
  if (chance(plan_.joins) || alive() == 0) ++faults_.joined, schedule_join();
  begin(h.worker);
}

void VirtualCluster::answer(WorkerId w, const Worker::Reply& reply, double delay_s) {
  schedule(delay_s, {Kind::arrived, w, reply.head, reply.body, false});
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
