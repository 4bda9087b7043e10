// mailbox_loop WORKERS SECONDS TASK_US PREFETCH: what bare_mailbox does, over culmen's mailbox transport; the same JSON
// line. The difference is what frames of any size, deaths and distrust of the memory cost.
#include <sys/prctl.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>

#include "culmen/base/clock.hpp"
#include "culmen/transport/mailbox/mailbox.hpp"

namespace {
using namespace culmen;

constexpr int memory_fd = 3;
constexpr std::size_t body_bytes = 512;

void do_task(long task_us) {
  const timespec task{task_us / 1000000, task_us % 1000000 * 1000};
  if (task_us > 0) nanosleep(&task, nullptr);
}

std::uint64_t answer_to(std::uint64_t number) { return number * 2654435761 + 12345; }

int work(WorkerId worker, long task_us) {
  prctl(PR_SET_TIMERSLACK, 1);
  MailboxEndpoint endpoint(MailboxMemory::attach(memory_fd), worker);
  FrameHead head;
  Bytes body;
  while (endpoint.receive(head, body)) {
    do_task(task_us);
    const auto answer = answer_to(head.evaluation);
    std::memcpy(body.data(), &answer, sizeof answer);
    endpoint.send(head, body);
  }
  return 0;
}

class Loop final : public Transport::Sink {
 public:
  Loop(Transport& transport, std::size_t workers, double seconds)
      : transport_(transport),
        sent_(workers),
        got_(workers),
        body_(body_bytes),
        begin_s_(clock_.now_s()),
        seconds_(seconds) {}
  void give(WorkerId worker) {
    FrameHead head;
    head.evaluation = sent_[worker]++;
    transport_.send(worker, head, body_);
    ++open_;
  }
  void joined(WorkerId) override {}
  void lost(WorkerId, const std::string& why) override {
    std::fprintf(stderr, "mailbox_loop: %s\n", why.c_str());
    std::exit(1);
  }
  void arrived(WorkerId worker, const FrameHead& head, BytesView body) override {
    const auto expected = got_[worker]++;
    std::uint64_t answer = 0;
    if (body.size() == body_bytes) std::memcpy(&answer, body.data(), sizeof answer);
    bad += head.evaluation != expected || answer != answer_to(expected);
    --open_;
    if (++done_ % 64 == 0) look_at_clock();
    if (until_s_ == 0) give(worker);
  }
  void run(bool slow) {
    while (open_ > 0) {
      if (!transport_.receive(*this)) transport_.sleep(std::numeric_limits<double>::infinity());
      if (slow) look_at_clock();
    }
  }
  double rate() const { return static_cast<double>(until_done_ - from_done_) / (until_s_ - from_s_); }
  long bad = 0;

 private:
  void look_at_clock() {
    const auto t = clock_.now_s();
    if (from_s_ == 0 && t - begin_s_ > 0.3 * seconds_) from_s_ = t, from_done_ = done_;
    if (until_s_ == 0 && t - begin_s_ > seconds_) until_s_ = t, until_done_ = done_;
  }
  SteadyClock clock_;
  Transport& transport_;
  std::vector<std::uint64_t> sent_, got_;
  Bytes body_;
  long open_ = 0, done_ = 0, from_done_ = 0, until_done_ = 0;
  double begin_s_, seconds_, from_s_ = 0, until_s_ = 0;
};

double lone_task_s(long task_us) {
  constexpr int times = 20;
  prctl(PR_SET_TIMERSLACK, 1);
  const SteadyClock clock;
  const auto begin = clock.now_s();
  for (int i = 0; i < times; ++i) do_task(task_us);
  return (clock.now_s() - begin) / times;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--worker") == 0)
    return work(static_cast<WorkerId>(std::atoi(argv[2])), std::atol(argv[3]));
  const int workers = argc == 5 ? std::atoi(argv[1]) : 0, prefetch = argc == 5 ? std::atoi(argv[4]) : 0;
  const double seconds = argc == 5 ? std::atof(argv[2]) : 0;
  const long task_us = argc == 5 ? std::atol(argv[3]) : -1;
  if (workers < 1 || seconds <= 0 || task_us < 0 || prefetch < 1) {
    std::fprintf(stderr, "usage: mailbox_loop WORKERS SECONDS TASK_US PREFETCH\n");
    return 2;
  }
  const auto lone_s = task_us ? lone_task_s(task_us) : 0;
  const auto memory = MailboxMemory::create({.workers = static_cast<std::size_t>(workers)});
  MailboxTransport transport(memory);
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  for (int i = 0; i < workers; ++i) {
    SpawnRequest request;
    request.command = {program, "--worker", std::to_string(i), argv[3]};
    request.descriptors = {{memory->fd(), memory_fd}};
    transport.watch(static_cast<WorkerId>(i), identify(spawn(request)), true);
  }
  Loop loop(transport, static_cast<std::size_t>(workers), seconds);
  for (int k = 0; k < prefetch; ++k)
    for (int i = 0; i < workers; ++i) loop.give(static_cast<WorkerId>(i));
  loop.run(task_us > 0);
  transport.close(10);
  std::printf(
      "{\"items_per_s\": %.1f, \"bad\": %ld, \"efficiency\": %.4f, \"raw_efficiency\": %.4f, \"lone_ms\": %.4f}\n",
      loop.rate(), loop.bad, loop.rate() * lone_s / workers,
      loop.rate() * static_cast<double>(task_us) * 1e-6 / workers, lone_s * 1e3);
  return loop.bad != 0;
}
