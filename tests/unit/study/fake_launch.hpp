// Launches without MPI.
#pragma once
#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "culmen/study/crew/rank_protocol.hpp"
#include "line_in_memory.hpp"

namespace culmen {

/// A launch whose ranks are threads of this process. Their nodes are as a test says.
struct FakeLaunch {
  explicit FakeLaunch(std::vector<std::size_t> on_nodes = {0, 0}, std::size_t flat = most_flat_nodes)
      : nodes(std::move(on_nodes)),
        flat_nodes(flat),
        meeting(static_cast<std::ptrdiff_t>(nodes.size())),
        answers(nodes.size()) {
    const RelayTree tree(*std::ranges::max_element(nodes) + 1, flat);
    for (std::size_t node = 0; node < tree.nodes(); ++node) {
      const auto children = tree.children(node);
      auto line = LineInMemory::make(children.size());
      ends[{node, LineEnd::upper}] = std::move(line[0]);
      for (std::size_t i = 0; i < children.size(); ++i) ends[{children[i], LineEnd::lower}] = std::move(line[i + 1]);
    }
  }
  std::vector<std::size_t> nodes;
  std::size_t flat_nodes;
  std::barrier<> meeting;
  Bytes bytes;
  std::vector<std::string> answers;
  std::map<int, std::string> troubles;  // answers of ranks in place of their own ones
  int broadcasts = 0;
  std::mutex mutex;  // of the following
  std::map<std::pair<std::size_t, LineEnd>, std::unique_ptr<LineInMemory>> ends;
  std::map<std::pair<int, LineEnd>, std::vector<int>> peers;  // ranks to which a rank has asked for a line
  std::map<int, int> teams;
  int left = 0;
  std::map<int, Bytes> given;
  std::condition_variable gave;
};

class FakeTeam final : public RankTeam {
 public:
  explicit FakeTeam(FakeLaunch& launch) : launch_(launch) {}
  int communicator() const override { return communicator_; }
  void renew() override { ++communicator_; }
  void leave() override {
    const std::lock_guard lock(launch_.mutex);
    ++launch_.left;
  }

 private:
  FakeLaunch& launch_;
  int communicator_ = 1000;
};

class FakeRank final : public RankGroup {
 public:
  FakeRank(FakeLaunch& launch, int rank) : launch_(launch), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(launch_.nodes.size()); }
  Bytes broadcast(Bytes bytes) override {
    if (rank_ == 0) {
      launch_.bytes = std::move(bytes);
      ++launch_.broadcasts;
    }
    barrier();
    auto copy = launch_.bytes;
    barrier();
    return copy;
  }
  std::vector<std::string> gather(const std::string& text) override {
    const auto trouble = launch_.troubles.find(rank_);
    launch_.answers[static_cast<std::size_t>(rank_)] = trouble == launch_.troubles.end() ? text : trouble->second;
    barrier();
    std::vector<std::string> texts;
    if (rank_ == 0) texts = launch_.answers;
    barrier();
    return texts;
  }
  void barrier() override { launch_.meeting.arrive_and_wait(); }
  std::vector<std::size_t> nodes() const override { return launch_.nodes; }
  std::unique_ptr<RankTeam> team(int number) override {
    const std::lock_guard lock(launch_.mutex);
    launch_.teams[rank_] = number;
    return number < 0 ? nullptr : std::make_unique<FakeTeam>(launch_);
  }
  std::size_t flat_nodes() const override { return launch_.flat_nodes; }
  std::unique_ptr<Line> line(std::vector<int> ranks, LineEnd end) override {
    const std::lock_guard lock(launch_.mutex);
    launch_.peers[{rank_, end}] = std::move(ranks);
    return std::move(launch_.ends.at({launch_.nodes[static_cast<std::size_t>(rank_)], end}));
  }
  void give(BytesView bytes, const std::vector<int>& ranks) override {
    const std::lock_guard lock(launch_.mutex);
    for (const int rank : ranks) launch_.given[rank] = Bytes(bytes.begin(), bytes.end());
    launch_.gave.notify_all();
  }
  Bytes taken() override {
    std::unique_lock lock(launch_.mutex);
    launch_.gave.wait(lock, [this] { return launch_.given.contains(rank_); });
    return std::move(launch_.given.extract(rank_).mapped());
  }

 private:
  FakeLaunch& launch_;
  const int rank_;
};

}  // namespace culmen
