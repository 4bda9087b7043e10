// The native worker process, `culmen __worker`.
#include "culmen/study/crew/local_worker.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "culmen/transport/mailbox/layout.hpp"
#include "helpers.hpp"

namespace culmen {
namespace {
/// A worker process that has said hello, and what it writes to stderr.
class NativeWorker final : Transport::Sink {
 public:
  NativeWorker() : memory_(MailboxMemory::create({.workers = 1})), transport_(memory_) {
    EXPECT_EQ(pipe2(errors_, O_CLOEXEC), 0);
    auto request = local_worker_request(find_executable(), memory_->fd(), 0, this_process(), "test");
    request.descriptors.emplace_back(errors_[1], STDERR_FILENO);
    process_ = spawn(request);
    close(errors_[1]);
    transport_.send(0, head(FrameKind::set_up),
                    encode(SetUp{two_parameters(), library_spec("sphere", Isolation::none)}));
    const bool is_ready = holds_within(patience_s, [&] {
      transport_.receive(*this);
      return ready_;
    });
    EXPECT_TRUE(is_ready);
  }
  ~NativeWorker() {
    if (process_ > 0) {
      kill_group(process_);
      reap(process_);
    }
    close(errors_[0]);
  }
  void send_a_frame_of_no_use() { transport_.send(0, head(FrameKind::hello), {}); }
  void damage_its_mailbox() {
    memory_->layout().box(0).master.in_tail += 1'000'000;
    run(Ring<>({memory_->layout().workers_door(0)}));
  }
  /// Exit code (or -signal) and stderr.
  std::pair<int, std::string> end() {
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(errors_[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(n));
    const int status = reap(std::exchange(process_, 0));
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text};
  }

 private:
  static FrameHead head(FrameKind kind) { return {1, 0, 1, 0, kind, 0}; }
  void joined(WorkerId) override {}
  void arrived(WorkerId, const FrameHead& head, BytesView) override { ready_ = head.kind == FrameKind::hello; }
  void lost(WorkerId, const std::string&) override {}

  std::shared_ptr<MailboxMemory> memory_;
  MailboxTransport transport_;
  int errors_[2];
  pid_t process_ = 0;
  bool ready_ = false;
};

TEST(NativeWorker, ends_with_a_sentence_at_a_frame_of_no_use) {
  NativeWorker worker;
  worker.send_a_frame_of_no_use();
  const auto [code, said] = worker.end();
  EXPECT_EQ(code, 1);
  EXPECT_EQ(said, "culmen: worker 0: a worker got a frame of kind 2; it takes a set-up or a candidate\n");
}

TEST(NativeWorker, ends_with_a_sentence_when_its_mailbox_is_damaged) {
  NativeWorker worker;
  worker.damage_its_mailbox();
  const auto [code, said] = worker.end();
  EXPECT_EQ(code, 1);
  EXPECT_EQ(said, "culmen: worker 0: its mailbox is damaged\n");
}

}  // namespace
}  // namespace culmen
