// The MPI world that this process is a rank of. Inside a node MPI carries the name of the mailbox and, at the end, the
// result; nothing else. Between nodes it carries a line.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/transport/line.hpp"
#include "culmen/transport/mpi/launcher.hpp"

namespace culmen {

/// The communicator of the ranks that evaluate together.
class RankTeam {
 public:
  virtual ~RankTeam() = default;
  /// As a Fortran handle (MPI_Comm_f2c), and with error handler MPI_ERRORS_RETURN.
  virtual int communicator() const = 0;
  /// Collective in the team. A fresh communicator: the former one may hold messages of an evaluation that failed.
  virtual void renew() = 0;
  /// Collective in the team. Nothing may be on its way.
  virtual void leave() = 0;
};

/// Processes that communicate collectively: every one makes the same calls in the same order.
class RankGroup {
 public:
  virtual ~RankGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Collective. Bytes of rank 0 on every rank.
  virtual Bytes broadcast(Bytes bytes) = 0;
  /// Collective. At rank 0: text of every rank in order (at most 255 bytes each); elsewhere empty.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
  /// Collective.
  virtual void barrier() = 0;
  /// The node of every rank: 0 for those that share memory with rank 0, then 1, 2, … in the order of ranks.
  virtual std::vector<std::size_t> nodes() const { return std::vector<std::size_t>(static_cast<std::size_t>(size())); }
  /// Collective. Ranks with the same number from 0 on are a team, of which each rank is in one at a time; below 0:
  /// none, and a null pointer.
  virtual std::unique_ptr<RankTeam> team(int /*number*/) { throw std::logic_error("this group has no teams"); }
  /// With more nodes than this, relays get their work through other relays. Every rank has the same number.
  virtual std::size_t flat_nodes() const { return most_flat_nodes; }
  /// To these ranks, of which each has the other end. Only if there are several nodes.
  virtual std::unique_ptr<Line> line(std::vector<int> /*ranks*/, LineEnd /*end*/) {
    throw std::logic_error("this group has no line");
  }
  /// To these ranks, without any other rank in between. Each of them calls taken(). Only if there are several nodes.
  virtual void give(BytesView /*bytes*/, const std::vector<int>& /*ranks*/) {
    throw std::logic_error("this group has no line");
  }
  /// Waits for the bytes that another rank gives.
  virtual Bytes taken() { throw std::logic_error("this group has no line"); }
};

/// MPI, loaded at run time: a libmpi already in the process, else CULMEN_MPI ("openmpi", "mpich", or a module's path),
/// else the launcher's environment.
class MpiWorld final : public RankGroup {
 public:
  /// Collective over all ranks. Initialises MPI unless that was done. Throws TransportError with one sentence: no
  /// module for this MPI, MPI's size is not the launcher's (the program runs under another MPI's launcher), ranks of
  /// unequal culmen versions.
  static std::unique_ptr<MpiWorld> open(const Launch& launch);
  ~MpiWorld() override;  ///< nothing collective: call finalize() first
  int rank() const override;
  int size() const override;
  std::string library() const;  ///< "Open MPI v4.1.4"
  Bytes broadcast(Bytes bytes) override;
  std::vector<std::string> gather(const std::string& text) override;
  void barrier() override;
  std::vector<std::size_t> nodes() const override;
  std::unique_ptr<RankTeam> team(int number) override;
  std::size_t flat_nodes() const override;
  std::unique_ptr<Line> line(std::vector<int> ranks, LineEnd end) override;
  void give(BytesView bytes, const std::vector<int>& ranks) override;
  Bytes taken() override;
  /// Collective. After it MPI is not used.
  void finalize();

 private:
  struct Impl;
  explicit MpiWorld(std::unique_ptr<Impl> impl);
  std::string fault(const Launch& launch, const std::string& why);
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
