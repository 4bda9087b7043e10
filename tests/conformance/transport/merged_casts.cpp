#include "conformance/transport/merged_casts.hpp"

#include <utility>

#include "conformance/transport/mailbox_casts.hpp"
#include "conformance/transport/network_casts.hpp"
#include "culmen/transport/merged/merged_transport.hpp"
#include "culmen/transport/network/open_transport.hpp"

namespace culmen::conformance {
namespace {

class Merged final : public Cast {
 public:
  Merged(std::unique_ptr<Cast> first, std::size_t workers_of_first, std::unique_ptr<Cast> second)
      : first_(std::move(first)),
        second_(std::move(second)),
        transport_(first_->transport(), workers_of_first, second_->transport()) {
    dynamic_cast<OpenTransport&>(second_->transport()).ring([this] { first_->transport().wake(); });
  }
  Transport& transport() override { return transport_; }
  bool has_processes() const override { return first_->has_processes(); }

 private:
  std::unique_ptr<Cast> first_, second_;
  MergedTransport transport_;
};

CastFactory merged(CastFactory first, CastFactory second) {
  return [=](std::size_t workers) {
    const auto of_first = workers - workers / 2;
    return std::make_unique<Merged>(first(of_first), of_first, second(workers / 2));
  };
}
}  // namespace

CastFactory merged_threads(std::size_t ring_bytes) {
  return merged(mailbox_threads(ring_bytes), network_threads("tcp"));
}

CastFactory merged_processes(std::size_t ring_bytes) {
  return merged(mailbox_processes(ring_bytes), network_processes("tcp"));
}

}  // namespace culmen::conformance
