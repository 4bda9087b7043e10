#include "culmen/study/crew/staying_transport.hpp"

#include <utility>

namespace culmen {
namespace {

/// Notes who is there.
class Roll final : public Transport::Sink {
 public:
  Roll(Transport::Sink& sink, std::set<WorkerId>& present) : sink_(sink), present_(present) {}
  void joined(WorkerId worker) override {
    present_.insert(worker);
    sink_.joined(worker);
  }
  void arrived(WorkerId worker, const FrameHead& head, BytesView body) override { sink_.arrived(worker, head, body); }
  void leaving(WorkerId worker) override { sink_.leaving(worker); }
  void lost(WorkerId worker, const std::string& why) override {
    present_.erase(worker);
    sink_.lost(worker, why);
  }

 private:
  Transport::Sink& sink_;
  std::set<WorkerId>& present_;
};

}  // namespace

StayingTransport::StayingTransport(ListenOptions options) {
  options.status = [this] { return status(); };
  network_ = make_open_transport(std::move(options));
}

StayingTransport::~StayingTransport() { network_->close(0); }

void StayingTransport::begin(std::function<std::string()> status) {
  {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }
  introduced_.merge(std::exchange(present_, {}));  // a run that ended at once did not hear of all
}

bool StayingTransport::receive(Sink& sink) {
  Roll roll(sink, present_);
  const auto again = std::exchange(introduced_, {});
  for (const auto worker : again) roll.joined(worker);
  return network_->receive(roll) || !again.empty();
}

/// The run may be gone afterwards: its last status stays.
void StayingTransport::close(double /*grace_s*/) {
  network_->ring({});
  const std::lock_guard lock(mutex_);
  status_ = [last = status_()] { return last; };
}

void StayingTransport::dismiss_all(double grace_s) { network_->close(grace_s); }

std::string StayingTransport::status() const {
  const std::lock_guard lock(mutex_);
  return status_();
}

}  // namespace culmen
