// The workers that get their work through one node: its own, and those behind the relays that it talks to.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>

#include "culmen/study/crew/rank_layout.hpp"
#include "culmen/transport/mailbox/mailbox.hpp"
#include "culmen/transport/merged/merged_transport.hpp"
#include "culmen/transport/mpi/world.hpp"
#include "culmen/transport/relay/relay_transport.hpp"

namespace culmen {

class ReachedWorkers {
 public:
  /// `here`: the mailbox of `node`, which outlives this object.
  ReachedWorkers(RankGroup& group, const RankLayout& layout, std::size_t node, MailboxTransport& here);
  Transport& transport() { return merged_ ? static_cast<Transport&>(*merged_) : here_; }
  /// Null if there are none.
  RelayTransport* behind() { return behind_ ? &*behind_ : nullptr; }
  /// After the transport's close(): workers that had not left in time.
  std::size_t remaining() const { return here_.remaining() + (behind_ ? behind_->remaining() : 0); }
  /// After the transport's close(): messages on the line are for others from now on.
  void hang_up() { line_.reset(); }

 private:
  MailboxTransport& here_;
  std::unique_ptr<Line> line_;
  std::optional<RelayTransport> behind_;
  std::optional<MergedTransport> merged_;
};

}  // namespace culmen
