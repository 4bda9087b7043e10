// A line whose messages MPI carries.
#pragma once
#include <array>
#include <deque>
#include <vector>

#include "culmen/transport/line.hpp"
#include "culmen/transport/mpi/module.h"

namespace culmen {

class MpiLine final : public Line {
 public:
  /// `ranks`: those at the other ends. The module's open_line() was called in every rank, which has at most one line
  /// with this end.
  MpiLine(const culmen_mpi_module& mpi, std::vector<int> ranks, LineEnd end);
  /// Waits up to 1 s for sends under way.
  ~MpiLine() override;
  MpiLine(const MpiLine&) = delete;
  MpiLine& operator=(const MpiLine&) = delete;

  bool send(std::size_t peer, BytesView message) override;
  bool receive(std::size_t& peer, BytesView& message) override;
  bool idle() override;

 private:
  struct Incoming {
    Bytes buffer;
    culmen_mpi_request request = 0;
  };
  struct Outgoing {
    Bytes message;
    culmen_mpi_request request = 0;
    bool underway = false;
  };
  using Outgoings = std::array<Outgoing, 2>;
  void check(int error, const char* what) const;
  void post(Incoming& incoming);
  bool is_free(Outgoing& outgoing);
  void end_sends() noexcept;

  const culmen_mpi_module& mpi_;
  std::vector<int> ranks_;
  int sends_, receives_;  // tags
  std::vector<std::size_t> peer_of_rank_;
  std::vector<Outgoings> outgoing_;  // of each peer
  std::deque<Incoming> incoming_;    // MPI fills them in this order
  bool owes_buffer_ = false;         // the last message was in the first one
};

}  // namespace culmen
