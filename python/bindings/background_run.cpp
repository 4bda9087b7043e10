#include "background_run.hpp"

#include <chrono>

#include "culmen/base/error.hpp"

namespace culmen::bindings {

BackgroundRun::~BackgroundRun() {
  if (!thread_.joinable()) return;
  run_.stop();
  thread_.join();
}

void BackgroundRun::start() {
  if (started_s_ != 0) throw InputError("a run can be started once only");
  started_s_ = clock_.now_s();
  run_.prepare();
  thread_ = std::thread([this] {
    try {
      run_.execute();
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  });
}

bool BackgroundRun::wait(double timeout_s) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(timeout_s), [this] { return done_; });
}

double BackgroundRun::elapsed_s() const { return started_s_ == 0 ? 0 : clock_.now_s() - started_s_; }

const StudyResult& BackgroundRun::result() {
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(error_);
  if (!result_) result_ = std::make_unique<StudyResult>(run_.conclude());
  return *result_;
}

}  // namespace culmen::bindings
