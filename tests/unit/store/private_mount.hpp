// A mount that only this process sees, and that goes with it.
#pragma once
#include <sched.h>
#include <sys/mount.h>

#include <string>

namespace culmen {

class PrivateMount {
 public:
  PrivateMount(const std::string& source, std::string target, const char* type, unsigned long flags,
               const char* options = "")
      : target_(std::move(target)) {
    ok_ = unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
          ::mount(source.c_str(), target_.c_str(), type, flags, options) == 0;
  }
  ~PrivateMount() {
    if (ok_) umount2(target_.c_str(), MNT_DETACH);
  }
  PrivateMount(const PrivateMount&) = delete;
  /// False where mounting is not permitted.
  bool ok() const { return ok_; }
  bool make_read_only() {
    return ::mount("none", target_.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  }

 private:
  std::string target_;
  bool ok_ = false;
};

}  // namespace culmen
