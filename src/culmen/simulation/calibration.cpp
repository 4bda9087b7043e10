#include "culmen/simulation/calibration.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <thread>
#include <vector>

#include "culmen/base/clock.hpp"
#include "culmen/base/cpu_time.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/file_system.hpp"
#include "culmen/store/journal.hpp"
#include "culmen/transport/mailbox/mailbox.hpp"

namespace culmen {
namespace {

constexpr int repeats = 5;
constexpr std::size_t message_bytes = 200;
constexpr std::size_t block_bytes = std::size_t{1} << 16;
constexpr std::size_t stream_bytes = 128 * block_bytes;

/// Duration of one step in a part of the measurement.
struct Took {
  double wall_s = std::numeric_limits<double>::infinity(), cpu_s = wall_s;
};

template <class Part>
Took least(int n, Part part) {
  Took took;
  for (int k = 0; k < repeats; ++k) {
    const double wall_s = SteadyClock().now_s(), cpu_s = thread_cpu_s();
    part();
    took.cpu_s = std::min(took.cpu_s, (thread_cpu_s() - cpu_s) / n);
    took.wall_s = std::min(took.wall_s, (SteadyClock().now_s() - wall_s) / n);
  }
  return took;
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    if (fd < 0) throw Error(fmt::format("the network of this machine cannot be measured: {}", std::strerror(errno)));
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  int fd() const { return fd_; }
  bool write_all(const char* data, std::size_t n) const {
    while (n > 0) {
      const auto done = ::send(fd_, data, n, MSG_NOSIGNAL);
      if (done <= 0) return false;
      data += done, n -= static_cast<std::size_t>(done);
    }
    return true;
  }
  bool read_all(char* data, std::size_t n) const {
    return ::recv(fd_, data, n, MSG_WAITALL) == static_cast<ssize_t>(n);
  }

 private:
  int fd_;
};

void check(int failed) {
  if (failed != 0) throw Error(fmt::format("the network of this machine cannot be measured: {}", std::strerror(errno)));
}

/// Two ends of a connection over the loopback device; the other end sends everything back.
class Echo {
 public:
  /// The other end sends back as soon as it has a whole block.
  explicit Echo(std::size_t bytes)
      : block_(bytes),
        listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        here_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    check(bind(listener_.fd(), raw, size));
    check(listen(listener_.fd(), 1));
    check(getsockname(listener_.fd(), raw, &size));
    check(connect(here_.fd(), raw, size));
    there_ = std::make_unique<Socket>(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    thread_ = std::thread([this] {
      std::vector<char> back(block_.size());
      while (there_->read_all(back.data(), back.size()) && there_->write_all(back.data(), back.size())) {
      }
    });
  }
  ~Echo() {
    shutdown(here_.fd(), SHUT_RDWR);
    thread_.join();
  }
  void once() {
    here_.write_all(block_.data(), block_.size());
    here_.read_all(block_.data(), block_.size());
  }
  /// Another thread sends while this one receives.
  void stream() {
    std::thread sender([this] {
      const std::vector<char> block(block_.size());
      for (std::size_t sent = 0; sent < stream_bytes; sent += block.size()) here_.write_all(block.data(), block.size());
    });
    for (std::size_t got = 0; got < stream_bytes; got += block_.size()) here_.read_all(block_.data(), block_.size());
    sender.join();
  }

 private:
  std::vector<char> block_;
  Socket listener_, here_;
  std::unique_ptr<Socket> there_;
  std::thread thread_;
};

void measure_messages(NetworkModel& model) {
  constexpr int n = 500;
  Echo echo(message_bytes);
  const auto took = least(n, [&] {
    for (int k = 0; k < n; ++k) echo.once();
  });
  model.latency_s = took.wall_s / 2;
  model.message_s = took.cpu_s / 2;
  Echo wide(block_bytes);
  // Each byte travels twice, there and back.
  model.bandwidth_bytes_s = 2 * static_cast<double>(stream_bytes) / least(1, [&] { wide.stream(); }).wall_s;
}

class Counter final : public Transport::Sink {
 public:
  void joined(WorkerId) override { ++frames; }
  void arrived(WorkerId, const FrameHead&, BytesView) override { ++frames; }
  void lost(WorkerId, const std::string&) override {}
  int frames = 0;
};

void exchange(Transport& transport, Counter& counter, int frames) {
  const Bytes body(message_bytes);
  counter.frames = 0;
  for (int k = 0; k < frames; ++k) transport.send(0, {}, body);
  while (counter.frames < frames)
    if (!transport.receive(counter)) transport.sleep(1);
}

void measure_frames(NetworkModel& model) {
  const auto memory = MailboxMemory::create({});
  MailboxTransport transport(memory);
  std::thread worker([&] {
    MailboxEndpoint endpoint(memory, 0);
    FrameHead head;
    Bytes body;
    while (endpoint.receive(head, body) && endpoint.send(head, body)) {
    }
  });
  Counter counter;
  while (counter.frames == 0)
    if (!transport.receive(counter)) transport.sleep(1);
  constexpr int n = 500, together = 50;
  const auto alone = least(n, [&] {
    for (int k = 0; k < n; ++k) exchange(transport, counter, 1);
  });
  const auto many = least(n, [&] {
    for (int k = 0; k < n / together; ++k) exchange(transport, counter, together);
  });
  model.wake_s = alone.wall_s / 2;
  model.frame_s = many.cpu_s / 2;
  transport.close(1);
  worker.join();
}

void measure_store(NetworkModel& model) {
  std::string pattern = local_folder() + "/culmen-measure-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr)
    throw Error(fmt::format("no folder can be made in {}: {}", local_folder(), std::strerror(errno)));
  {
    auto journal = Journal::create(pattern + "/store.db", {"measured", "{}", "0", "", 0}, Durability::process);
    EvaluationId next = 0;
    const auto append = [&] {
      OutcomeRecord record;
      record.evaluation = next++;
      record.outcome = Outcome::of_value(1);
      journal.append(record);
    };
    constexpr int few = 100, many = 1000;
    const auto alone = least(few, [&] {
      for (int k = 0; k < few; ++k) append(), journal.commit();
    });
    const auto together = least(many, [&] {
      for (int k = 0; k < many; ++k) append();
      journal.commit();
    });
    model.row_s = together.wall_s;
    model.commit_s = std::max(0.0, alone.wall_s - together.wall_s);
    journal.close();
  }
  std::error_code ignored;
  std::filesystem::remove_all(pattern, ignored);
}

}  // namespace

NetworkModel measured_here() {
  NetworkModel model;
  measure_messages(model);
  measure_frames(model);
  measure_store(model);
  return model;
}

}  // namespace culmen
