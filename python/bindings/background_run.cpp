#include "background_run.hpp"

#include <nanobind/nanobind.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "culmen/base/error.hpp"
#include "culmen/base/process.hpp"

namespace culmen::bindings {
namespace {

/// Threads inherit the mask of the thread that makes them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : stop_signals) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &former_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t former_;
};

}  // namespace

namespace {
int make_event() {
  const int fd = eventfd(0, EFD_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}
}  // namespace

BackgroundRun::BackgroundRun(StudyConfig config, RunOptions options)
    : run_(std::move(config), std::move(options)), done_(make_event()) {}

BackgroundRun::BackgroundRun(StudyConfig config, RunOptions options, std::shared_ptr<Source> source,
                             std::function<void()> ended)
    : run_(std::move(config), std::move(options), std::move(source)), done_(make_event()), ended_(std::move(ended)) {}

BackgroundRun::~BackgroundRun() {
  if (thread_.joinable()) {
    run_.stop();
    // An optimizer of a Python library needs the interpreter before it ends.
    if (PyGILState_Check() != 0) {
      const nanobind::gil_scoped_release released;
      thread_.join();
    } else {
      thread_.join();
    }
  }
  close(done_);
}

void BackgroundRun::start() {
  if (started_s_ != 0) throw InputError("a run can be started only once");
  started_s_ = clock_.now_s();
  const SignalsBlocked blocked;
  run_.prepare();
  thread_ = std::thread([this] {
    run_.execute();
    if (ended_) ended_();
    eventfd_write(done_, 1);
  });
}

bool BackgroundRun::wait(double timeout_s) {
  pollfd done{done_, POLLIN, 0};
  return poll(&done, 1, static_cast<int>(std::ceil(std::clamp(timeout_s, 0.0, 1e6) * 1e3))) > 0;
}

double BackgroundRun::elapsed_s() const { return started_s_ == 0 ? 0 : clock_.now_s() - started_s_; }

const StudyResult& BackgroundRun::result(const std::string& note) {
  if (thread_.joinable()) thread_.join();
  if (!result_) result_ = std::make_unique<StudyResult>(run_.conclude(note));
  return *result_;
}

}  // namespace culmen::bindings
