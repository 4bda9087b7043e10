#include "culmen/worker/process/program_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <limits>

#include "culmen/base/error.hpp"

namespace culmen {

OutputPipe::OutputPipe(std::size_t largest_bytes) : largest_bytes_(largest_bytes) {
  if (pipe2(ends_, O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot make a pipe for a command: {}", std::strerror(errno)));
  fcntl(ends_[0], F_SETFL, O_NONBLOCK);
}

OutputPipe::~OutputPipe() {
  close(ends_[0]);
  close_writer();
}

void OutputPipe::close_writer() {
  if (ends_[1] >= 0) close(ends_[1]);
  ends_[1] = -1;
}

void OutputPipe::drain() {
  char buffer[16 * 1024];
  for (int portion = 0; portion < 8; ++portion) {
    const auto n = read(ends_[0], buffer, sizeof buffer);
    if (n <= 0) {
      ended_ = n == 0;
      return;
    }
    overflowed_ = overflowed_ || text_.size() + static_cast<std::size_t>(n) > largest_bytes_;
    if (!overflowed_) text_.append(buffer, static_cast<std::size_t>(n));
  }
}

ProgramRun::End ProgramRun::run(SpawnRequest& request, int standard_input, double limit_s) {
  output_.emplace(largest_output_bytes);
  errors_.emplace(largest_output_bytes);
  request.descriptors = {{standard_input, 0}, {output_->writer(), 1}, {errors_->writer(), 2}};
  if (!child_.start(request)) return End::interrupted;
  output_->close_writer();
  errors_->close_writer();
  const bool in_time = collect(limit_s);
  status_ = child_.end(true);  // also kills the processes that a program has left behind
  if (!in_time) return End::too_late;
  child_.expect_interrupt_after(status_);
  return End::by_itself;
}

/// Reads until the child has died, because processes that it left behind may hold the pipes open for ever. False if the
/// limit came first.
bool ProgramRun::collect(double limit_s) {
  const double deadline_s = limit_s > 0 ? clock_.now_s() + limit_s : std::numeric_limits<double>::infinity();
  for (bool dead = false; !dead;) {
    pollfd wakers[3] = {{child_.pidfd(), POLLIN, 0}, {output_->reader(), POLLIN, 0}, {errors_->reader(), POLLIN, 0}};
    const bool in_time = wait_for(wakers, deadline_s);
    dead = wakers[0].revents != 0;
    if (wakers[1].revents != 0) output_->drain();
    if (wakers[2].revents != 0) errors_->drain();
    if (!in_time) return false;
  }
  return true;
}

}  // namespace culmen
