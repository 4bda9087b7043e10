// Workers of other machines that stay from one run to the next.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "culmen/transport/network/open_transport.hpp"

namespace culmen {

/// It stays open at the end of a run: the workers keep their connections, and join the next run at its begin(). Only
/// one run at a time may use it. A worker first finishes the evaluation that it has at the end of a run.
class StayingTransport final : public OpenTransport {
 public:
  /// Listens from now on. Throws InputError if it cannot listen at the address.
  explicit StayingTransport(ListenOptions options);
  ~StayingTransport() override;
  /// A run begins. `status`: as ListenOptions::status, until the run ends.
  void begin(std::function<std::string()> status);
  /// After the last run: tells the workers to leave and waits for that, like close() of other transports.
  void dismiss_all(double grace_s);

  const Address& address() const override { return network_->address(); }
  const std::string& fingerprint() const override { return network_->fingerprint(); }
  std::size_t connected() const override { return network_->connected(); }
  void ring(std::function<void()> bell) override { network_->ring(std::move(bell)); }
  void send(WorkerId worker, const FrameHead& head, BytesView body) override { network_->send(worker, head, body); }
  void turn_away(WorkerId worker, const std::string& why) override { network_->turn_away(worker, why); }
  bool receive(Sink& sink) override;
  void sleep(double at_most_s) override { network_->sleep(at_most_s); }
  double look_again_s() const override { return network_->look_again_s(); }
  void wake() noexcept override { network_->wake(); }
  /// The workers stay.
  bool dismiss() override { return true; }
  void close(double grace_s) override;

 private:
  std::string status() const;

  mutable std::mutex mutex_;
  std::function<std::string()> status_ = [] { return std::string("{}"); };
  std::unique_ptr<OpenTransport> network_;
  std::set<WorkerId> present_;     // the run knows of them
  std::set<WorkerId> introduced_;  // they are present, and the next run does not know of them yet
};

/// For all runs whose Listening has it. The first of them makes the transport.
struct Stay {
  std::unique_ptr<StayingTransport> transport;
  std::shared_ptr<Refusals> refusals = std::make_shared<Refusals>();
};

}  // namespace culmen
