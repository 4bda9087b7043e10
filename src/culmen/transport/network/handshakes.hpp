// The connections that have not said their greeting yet.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace culmen {

/// Thread-safe. There are at most `most`: for a new one the oldest one ends, because it is the least likely to succeed.
class Handshakes {
 public:
  /// One of them, until it is destroyed.
  class Entry {
   public:
    /// cut: ends the connection. Any thread calls it, also after the entry has gone.
    Entry(Handshakes& all, std::function<void()> cut) : all_(all), number_(all.add(std::move(cut))) {}
    ~Entry() { all_.remove(number_); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    Handshakes& all_;
    std::uint64_t number_;
  };

  explicit Handshakes(std::size_t most) : most_(most) {}
  void make_place() { keep(most_ - 1); }
  /// Ends the oldest one, so that another one may come.
  void end_oldest() { keep(0, 1); }

 private:
  /// Ends the oldest ones until there are `most`, but no more than `at_most` of them.
  void keep(std::size_t most, std::size_t at_most = SIZE_MAX) {
    std::vector<std::function<void()>> oldest;
    {
      const std::lock_guard lock(mutex_);
      while (open_.size() > most && oldest.size() < at_most) oldest.push_back(open_.extract(open_.begin()).mapped());
    }
    for (const auto& cut : oldest) cut();
  }
  std::uint64_t add(std::function<void()> cut) {
    const std::lock_guard lock(mutex_);
    open_.emplace(next_, std::move(cut));
    return next_++;
  }
  void remove(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    open_.erase(number);
  }

  const std::size_t most_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void()>> open_;
  std::uint64_t next_ = 0;
};

}  // namespace culmen
