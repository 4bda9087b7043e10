#include "culmen/transport/merged/merged_transport.hpp"

#include <algorithm>

#include "culmen/base/clock.hpp"

namespace culmen {
namespace {

/// Gives the workers of the second transport their numbers.
class Shifted final : public Transport::Sink {
 public:
  Shifted(Transport::Sink& sink, WorkerId by) : sink_(sink), by_(by) {}
  void joined(WorkerId worker) override { sink_.joined(worker + by_); }
  void arrived(WorkerId worker, const FrameHead& head, BytesView body) override {
    sink_.arrived(worker + by_, head, body);
  }
  void leaving(WorkerId worker) override { sink_.leaving(worker + by_); }
  void lost(WorkerId worker, const std::string& why) override { sink_.lost(worker + by_, why); }

 private:
  Transport::Sink& sink_;
  WorkerId by_;
};

}  // namespace

void MergedTransport::send(WorkerId worker, const FrameHead& head, BytesView body) {
  if (worker < begin_) first_.send(worker, head, body);
  else second_.send(worker - begin_, head, body);
}

void MergedTransport::turn_away(WorkerId worker, const std::string& why) {
  if (worker < begin_) first_.turn_away(worker, why);
  else second_.turn_away(worker - begin_, why);
}

bool MergedTransport::receive(Sink& sink) {
  Shifted shifted(sink, begin_);
  const bool any = first_.receive(sink);
  return second_.receive(shifted) || any;
}

bool MergedTransport::dismiss() {
  const bool first = first_.dismiss();
  return second_.dismiss() && first;
}

void MergedTransport::close(double grace_s) {
  const SteadyClock clock;
  const double end_s = clock.now_s() + grace_s;
  const bool told = first_.dismiss();
  second_.dismiss();
  second_.close(grace_s);
  first_.close(told ? std::max(0.0, end_s - clock.now_s()) : grace_s);
}

}  // namespace culmen
