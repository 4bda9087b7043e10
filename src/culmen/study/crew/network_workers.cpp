#include "culmen/study/crew/network_workers.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "culmen/base/descriptors.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/span.hpp"
#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/crew/crew.hpp"
#include "culmen/study/crew/thread_share.hpp"
#include "culmen/transport/network/joined_endpoint.hpp"
#include "culmen/worker/process/child_table.hpp"
#include "culmen/worker/process/guard.hpp"
#include "culmen/worker/worker.hpp"

namespace culmen {
namespace {
constexpr std::size_t descriptors_of_an_endpoint = 6;  // its socket, and what wakes its thread

/// Gives the worker its own set-up in place of the master's.
class OwnWork final : public Endpoint {
 public:
  OwnWork(Endpoint& network, const Bytes& set_up) : network_(network), set_up_(set_up) {}
  bool receive(FrameHead& head, Bytes& body) override { return replaced(network_.receive(head, body), head, body); }
  bool try_receive(FrameHead& head, Bytes& body) override {
    return replaced(network_.try_receive(head, body), head, body);
  }
  /// False also after it said why it cannot evaluate: then it leaves.
  bool send(const FrameHead& head, BytesView body) override {
    const bool sent = network_.send(head, body);
    if (head.kind == FrameKind::result || body.empty()) return sent;
    if (network_.closed()) return false;  // the end of the study interrupted the set-up
    trouble_ = text_in(body);
    return false;
  }
  void hand_in() override { network_.hand_in(); }
  const std::string& trouble() const { return trouble_; }
  void wait_closed() override { network_.wait_closed(); }
  void release() noexcept override { network_.release(); }
  bool closed() const noexcept override { return network_.closed(); }

 private:
  bool replaced(bool received, const FrameHead& head, Bytes& body) const {
    if (received && head.kind == FrameKind::set_up) body = set_up_;
    return received;
  }
  Endpoint& network_;
  const Bytes& set_up_;
  std::string trouble_;
};

}  // namespace

struct NetworkWorkers::Impl {
  Impl(StudyConfig config, Joining given, Function own)
      : joining(std::move(given)),
        room(joining.slots * descriptors_of_an_endpoint),
        function(std::move(own)),
        marker(children->marker()) {
    auto evaluator = config.evaluator;
    evaluator.run_marker = marker;
    evaluator.environment.merge(thread_share(joining.slots, evaluator));
    starts_processes = starts_children(evaluator);
    set_up = encode(SetUp{config.space, std::move(evaluator), config.goals});
    options.address = parse_address(joining.address);
    options.fingerprint = joining.fingerprint;
    options.token = joining.token;
    options.work = work_of(config, joining.content);
    options.patience_s = joining.patience_s;
    for (std::size_t i = 0; i < joining.slots; ++i) endpoints.push_back(make_joined_endpoint(options));
  }

  void start() {
    if (starts_processes) guard = std::make_unique<Guard>(marker);
    left = unjoined = endpoints.size();
    for (auto& endpoint : endpoints)
      threads.emplace_back([this, &endpoint] {
        if (join(*endpoint)) work(*endpoint);
        else depart({});
      });
  }

  /// Returns when no other one is joining any more; false if one of them failed.
  bool join(JoinedEndpoint& endpoint) {
    std::exception_ptr why;
    try {
      endpoint.join();
    } catch (const Error&) {
      why = std::current_exception();
      stop();
    }
    std::unique_lock lock(mutex);
    if (!failed) failed = why;
    --unjoined;
    changed.notify_all();
    changed.wait(lock, [this] { return unjoined == 0; });
    return !failed;
  }

  void run() {
    start();
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return unjoined == 0; });
    if (failed) std::rethrow_exception(failed);
    changed.wait(lock, [this] { return left == 0; });
    if (!trouble.empty()) throw TransportError(trouble);
  }

  bool wait_joined(double timeout_s) {
    std::unique_lock lock(mutex);
    const bool ended = changed.wait_for(lock, span_of(timeout_s), [this] { return unjoined == 0; });
    if (ended && failed) std::rethrow_exception(failed);
    return ended;
  }

  bool wait(double timeout_s) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, span_of(timeout_s), [this] { return left == 0; });
  }

  void work(JoinedEndpoint& endpoint) {
    Worker worker(factory_for(function));
    OwnWork own(endpoint, set_up);
    auto why = serve(own, worker);
    if (why.empty()) why = own.trouble();
    if (why.empty()) why = endpoint.trouble();
    endpoint.leave();
    if (why.empty()) stop();  // the study has ended: one that is just connecting again may never hear of it
    depart(why);
  }

  void depart(const std::string& why) {
    const std::lock_guard lock(mutex);
    if (trouble.empty()) trouble = why;
    --left;
    changed.notify_all();
  }

  void stop() noexcept {
    for (auto& endpoint : endpoints) endpoint->leave();
  }

  void end() {
    stop();
    for (auto& thread : threads) thread.join();
    threads.clear();
    endpoints.clear();
    guard.reset();
  }

  Joining joining;
  DescriptorRoom room;
  Function function;
  std::shared_ptr<ChildTable> children = ChildTable::create(make_run_marker());
  std::string marker;
  JoinOptions options;
  Bytes set_up;
  bool starts_processes = false;
  std::unique_ptr<Guard> guard;
  std::vector<std::unique_ptr<JoinedEndpoint>> endpoints;
  std::vector<std::thread> threads;
  mutable std::mutex mutex;  // of the following
  std::condition_variable changed;
  std::size_t unjoined = 0, left = 0;
  std::exception_ptr failed;  // the first that kept one from joining
  std::string trouble;
};

NetworkWorkers::NetworkWorkers(StudyConfig config, Joining joining, Function function)
    : impl_(std::make_unique<Impl>(std::move(config), std::move(joining), std::move(function))) {}
NetworkWorkers::~NetworkWorkers() { impl_->end(); }

void NetworkWorkers::run() { impl_->run(); }

void NetworkWorkers::start() { impl_->start(); }

bool NetworkWorkers::wait_joined(double timeout_s) { return impl_->wait_joined(timeout_s); }

bool NetworkWorkers::wait(double timeout_s) { return impl_->wait(timeout_s); }

void NetworkWorkers::stop() noexcept { impl_->stop(); }

std::string NetworkWorkers::trouble() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->trouble;
}

std::uint64_t NetworkWorkers::evaluations() const {
  std::uint64_t all = 0;
  for (const auto& endpoint : impl_->endpoints) all += endpoint->results();
  return all;
}

}  // namespace culmen
