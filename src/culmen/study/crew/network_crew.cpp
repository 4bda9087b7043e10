#include "culmen/study/crew/network_crew.hpp"

#include <optional>

#include "culmen/study/crew/staying_transport.hpp"
#include "culmen/transport/merged/merged_transport.hpp"
#include "culmen/transport/network/open_transport.hpp"

namespace culmen {
namespace {

ListenOptions options_of(const Listening& listening, const CrewRequest& request) {
  ListenOptions options;
  options.address = parse_address(listening.address);
  options.certificate = listening.certificate;
  options.token = listening.token;
  options.work = request.work;
  options.status = request.status;
  if (request.refusals) options.refusals = request.refusals;
  options.io_threads = listening.io_threads;
  options.largest_body = listening.largest_message_mib << 20;
  return options;
}

/// Null unless the workers stay.
StayingTransport* staying(const Listening& listening, const CrewRequest& request) {
  if (!listening.stay) return nullptr;
  auto& transport = listening.stay->transport;
  if (!transport) transport = std::make_unique<StayingTransport>(options_of(listening, request));
  transport->begin(request.status);
  return transport.get();
}

class OpenCrew final : public Crew {
 public:
  OpenCrew(const Listening& listening, const CrewRequest& request, std::unique_ptr<Crew> own)
      : own_(std::move(own)), stay_(listening.stay), network_(staying(listening, request)) {
    if (network_ == nullptr) {
      leaving_ = make_open_transport(options_of(listening, request));
      network_ = leaving_.get();
    }
    if (!own_) return;
    network_->ring([this] { own_->transport().wake(); });
    merged_.emplace(own_->transport(), own_->workers(), *network_);
  }
  ~OpenCrew() override {
    if (leaving_) leaving_->close(0);
  }
  Transport& transport() override { return merged_ ? static_cast<Transport&>(*merged_) : *network_; }
  std::size_t workers() const override { return own_ ? own_->workers() : 0; }
  std::size_t nodes() const override { return own_ ? own_->nodes() : 1; }
  std::optional<WorkerId> first_visitor() const override { return static_cast<WorkerId>(workers()); }
  void conclude(const StudyResult& result) override {
    if (own_) own_->conclude(result);
  }
  Door door() const override { return {to_string(network_->address()), network_->fingerprint()}; }

 private:
  std::unique_ptr<Crew> own_;
  std::shared_ptr<Stay> stay_;              // one of these two has the network
  std::unique_ptr<OpenTransport> leaving_;  // its workers leave at the end of the run
  OpenTransport* network_;
  std::optional<MergedTransport> merged_;
};

}  // namespace

std::unique_ptr<Crew> make_network_crew(const Listening& listening, const CrewRequest& request,
                                        std::unique_ptr<Crew> own) {
  return std::make_unique<OpenCrew>(listening, request, std::move(own));
}

}  // namespace culmen
