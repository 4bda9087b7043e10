#include "culmen/simulation/modelled_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "culmen/evaluation/codec.hpp"

namespace culmen {
namespace {
constexpr std::size_t portion = 64;       // frames of one receive()
constexpr unsigned most_under_way = 2;    // messages, in each direction of a relay's line
constexpr std::size_t parcel_bytes = 16;  // in front of a frame between nodes
}  // namespace

ModelledCluster::ModelledCluster(const ClusterModel& model, Durations durations, VirtualClock& clock, Worker& worker)
    : model_(model),
      tree_(model.nodes()),
      durations_(std::move(durations)),
      clock_(clock),
      worker_(worker),
      workers_(model.workers),
      nodes_(model.nodes()) {
  for (Index node = 1; node < nodes_.size(); ++node) nodes_[node].parent = static_cast<Index>(tree_.parent(node));
}

void ModelledCluster::send(WorkerId worker, const FrameHead& head, BytesView body) {
  const auto begin = sent_bytes_.size();
  sent_bytes_.insert(sent_bytes_.end(), body.begin(), body.end());
  sent_.push_back({worker, head, begin, sent_bytes_.size()});
}

bool ModelledCluster::receive(Sink& sink) {
  const auto before = delivered_;
  reminded_ = false;
  for (; joined_ < model_.workers && delivered_ - before < portion; ++joined_, ++delivered_)
    sink.joined(static_cast<WorkerId>(joined_));
  while (!for_master_.empty() && delivered_ - before < portion) {
    const auto message = for_master_.front();
    for_master_.pop_front();
    deliver(sink, message);
  }
  return delivered_ > before;
}

void ModelledCluster::deliver(Sink& sink, const Happening& message) {
  const auto& network = model_.network;
  debt_s_ += message.node == 0 ? network.frame_s : network.message_s;
  for (auto i = message.task; i != none;) {
    const auto& task = tasks_[i];
    sink.arrived(task.worker, task.head, task.body);
    ++delivered_;
    free_tasks_.push_back(i);
    i = tasks_[i].next;
  }
  if (message.node != 0) {
    --nodes_[message.node].up.under_way;
    flush_up(message.node, clock_.now_s());
  }
}

void ModelledCluster::sleep(double at_most_s) {
  if (woken_.exchange(false)) return;
  settle();
  if (std::exchange(reminded_, false)) return;
  const double end_s = clock_.now_s() + at_most_s;
  while (for_master_.empty()) {
    if (future_.empty() && std::isinf(end_s))
      throw std::logic_error("the master would sleep for ever: nothing is under way and no time-out is set");
    if (future_.empty() || future_.top().at_s > end_s) return clock_.advance_to(end_s);
    const auto h = future_.top();
    future_.pop();
    clock_.advance_to(h.at_s);
    if (h.kind == Kind::reminder) return;
    happen(h);
  }
}

void ModelledCluster::settle() {
  while (!future_.empty() && future_.top().at_s <= clock_.now_s()) {
    const auto h = future_.top();
    future_.pop();
    happen(h);
  }
}

void ModelledCluster::worked(double master_s) {
  for (const auto& sent : sent_)
    if (node_of(sent.worker) == 0) debt_s_ += model_.network.frame_s;
  const double begin_s = clock_.now_s() + master_s;
  for (const auto& sent : sent_) {
    const auto node = node_of(sent.worker);
    const auto task = new_task(sent);
    if (node == 0) reach_worker(task, begin_s + model_.network.wake_s);
    else append(nodes_[first_on_way(node)].down, task);
  }
  for (const auto& sent : sent_)
    if (const auto node = node_of(sent.worker); node != 0) flush_down(first_on_way(node), begin_s);
  if (!sent_.empty() && sent_.back().head.kind == FrameKind::evaluate) last_sent_ = now();
  sent_.clear();
  clear(sent_bytes_);
  master_s += std::exchange(debt_s_, 0);
  master_s_ += master_s;
  clock_.advance_to(clock_.now_s() + master_s);
  delivered_ = 0;
}

ModelledCluster::Index ModelledCluster::new_task(const Sent& sent) {
  Index index = static_cast<Index>(tasks_.size());
  if (free_tasks_.empty()) {
    tasks_.emplace_back();
  } else {
    index = free_tasks_.back();
    free_tasks_.pop_back();
  }
  auto& task = tasks_[index];
  task.head = sent.head;
  task.worker = sent.worker;
  task.next = none;
  const auto* bytes = sent_bytes_.data();
  task.body.assign(bytes + sent.begin, bytes + sent.end);
  answer(task);
  return index;
}

/// The reply is made here, so that its bytes and not the candidate's are kept while it is under way.
void ModelledCluster::answer(Task& task) {
  const bool evaluates = task.head.kind == FrameKind::evaluate;
  task.duration_s = evaluates ? durations_.of(task.head.evaluation, task.head.attempt) : 0;
  if (evaluates || !has_hello_) {
    const auto& reply = worker_.on(task.head, task.body);
    if (evaluates) {
      task.head = reply.head;
      task.body.assign(reply.body.begin(), reply.body.end());
      return;
    }
    hello_ = reply;
    has_hello_ = true;
  }
  task.head.kind = hello_.head.kind;
  task.body = hello_.body;
}

void ModelledCluster::append(Queue& queue, Index task) {
  if (queue.first == none) queue.first = task;
  else tasks_[queue.last].next = task;
  queue.last = task;
  tasks_[task].next = none;
  queue.bytes += sizeof(FrameHead) + parcel_bytes + tasks_[task].body.size();
}

double ModelledCluster::Line::carry(double at_s, double seconds) {
  free_s = std::max(free_s, at_s) + seconds;
  worked_s += seconds;
  return free_s;
}

void ModelledCluster::flush_down(Index node, double at_s) {
  auto& queue = nodes_[node].down;
  if (queue.first == none || queue.under_way == most_under_way) return;
  auto& parent = nodes_[nodes_[node].parent];
  ++queue.under_way;
  ++messages_;
  if (nodes_[node].parent == 0) debt_s_ += model_.network.message_s;
  else work(parent, at_s, model_.network.message_s);
  const double begin_s = nodes_[node].parent == 0 ? at_s + debt_s_ : parent.free_s;
  const double leaves_s = parent.to_behind.carry(begin_s, seconds_of(queue.bytes));
  future_.push({leaves_s + model_.network.latency_s, Kind::came_down, node, queue.first});
  queue.first = queue.last = none;
  queue.bytes = 0;
}

void ModelledCluster::work(Node& node, double at_s, double seconds) {
  node.free_s = std::max(node.free_s, at_s) + seconds;
  node.worked_s += seconds;
}

void ModelledCluster::flush_up(Index node, double at_s) {
  auto& from = nodes_[node];
  auto& queue = from.up;
  if (queue.first == none || queue.under_way == most_under_way) return;
  ++queue.under_way;
  ++messages_;
  work(from, at_s, model_.network.message_s);
  const double leaves_s = nodes_[from.parent].from_behind.carry(from.free_s, seconds_of(queue.bytes));
  future_.push({leaves_s + model_.network.latency_s, Kind::came_up, node, queue.first});
  queue.first = queue.last = none;
  queue.bytes = 0;
}

void ModelledCluster::happen(const Happening& h) {
  switch (h.kind) {
    case Kind::done:
      return done(h.task, h.at_s);
    case Kind::came_up:
      return came_up(h);
    case Kind::came_down:
      return came_down(h);
    case Kind::reminder:
      reminded_ = true;
  }
}

template <class Handle>
void ModelledCluster::read(Node& node, const Happening& h, Handle handle) {
  work(node, h.at_s, model_.network.message_s);
  for (auto i = h.task; i != none;) {
    const auto next = std::exchange(tasks_[i].next, none);
    ++relayed_;
    work(node, h.at_s, model_.network.frame_s);
    handle(i);
    i = next;
  }
}

void ModelledCluster::came_down(const Happening& h) {
  auto& relay = nodes_[h.node];
  reached_.clear();
  read(relay, h, [&](Index task) {
    const auto node = node_of(tasks_[task].worker);
    if (node == h.node) return reach_worker(task, relay.free_s + model_.network.wake_s);
    append(nodes_[node].down, task);
    reached_.push_back(node);
  });
  for (const auto node : reached_) flush_down(node, relay.free_s);
  --relay.down.under_way;
  flush_down(h.node, h.at_s);
}

void ModelledCluster::came_up(const Happening& h) {
  const auto above = nodes_[h.node].parent;
  if (above == 0) return for_master_.push_back(h);
  auto& relay = nodes_[above];
  read(relay, h, [&](Index task) { append(relay.up, task); });
  --nodes_[h.node].up.under_way;
  flush_up(h.node, h.at_s);
  flush_up(above, relay.free_s);
}

void ModelledCluster::reach_worker(Index index, double at_s) {
  const auto& task = tasks_[index];
  auto& worker = workers_[task.worker];
  const bool idle = worker.free_s <= at_s;
  if (idle) worker.free_s = at_s;
  worker.free_s += task.duration_s;
  if (task.head.kind == FrameKind::result) {
    if (idle) begin(at_s);
    else ++worker.waiting;
  }
  future_.push({worker.free_s, Kind::done, node_of(task.worker), index});
}

void ModelledCluster::begin(double at_s) {
  ++begun_;
  begins_s_ += at_s;
  most_running_ = std::max<std::size_t>(most_running_, begun_ - ended_);
  if (was_full_ || begun_ - ended_ < model_.workers) return;
  was_full_ = true;
  full_ = now();
}

void ModelledCluster::done(Index index, double at_s) {
  auto& task = tasks_[index];
  const auto node = node_of(task.worker);
  if (task.head.kind == FrameKind::result) {
    auto& worker = workers_[task.worker];
    ++ended_;
    ends_s_ += at_s;
    if (worker.waiting > 0) --worker.waiting, begin(at_s);
  }
  if (node == 0) return future_.push({at_s + model_.network.wake_s, Kind::came_up, node, index});
  auto& relay = nodes_[node];
  ++relayed_;
  work(relay, at_s + model_.network.wake_s, model_.network.frame_s);
  append(relay.up, index);
  flush_up(node, relay.free_s);
}

ClusterMoment ModelledCluster::now() const {
  ClusterMoment m;
  m.at_s = clock_.now_s();
  m.evaluated_s = static_cast<double>(begun_ - ended_) * m.at_s - begins_s_ + ends_s_;
  m.master_s = master_s_;
  m.line_s = std::max(nodes_[0].from_behind.worked_s, nodes_[0].to_behind.worked_s);
  m.ended = ended_;
  m.messages = messages_;
  m.relayed = relayed_;
  return m;
}

double ModelledCluster::busiest_relay_s() const {
  double most = 0;
  for (const auto& node : nodes_) most = std::max(most, node.worked_s);
  return most;
}

}  // namespace culmen
