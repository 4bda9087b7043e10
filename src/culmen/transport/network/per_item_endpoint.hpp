// The worker's side of TCP with a connection for each item; see per_item_transport.hpp.
#pragma once
#include <memory>
#include <string>

#include "culmen/transport/network/joined_endpoint.hpp"

namespace culmen {

/// It has a connection while it waits for an item and while it hands in a result. During an evaluation it has none, so
/// that the end of the study does not interrupt the evaluation.
class PerItemEndpoint final : public JoinedEndpoint {
 public:
  /// See join_master().
  explicit PerItemEndpoint(JoinOptions options);
  ~PerItemEndpoint() override;
  bool receive(FrameHead& head, Bytes& body) override;
  bool try_receive(FrameHead& head, Bytes& body) override;
  bool send(const FrameHead& head, BytesView body) override;
  void wait_closed() override;
  void release() noexcept override;
  bool closed() const noexcept override;
  void leave() noexcept override;
  std::string trouble() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
