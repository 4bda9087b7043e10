// Calls of the system, past all libraries.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

_Static_assert(sizeof(off_t) == 8 && sizeof(long) == 8, "the library is for 64-bit Linux");

ssize_t iobuf_sys_pread(int fd, void* to, size_t n, off_t at) { return syscall(SYS_pread64, fd, to, n, at); }
ssize_t iobuf_sys_pwrite(int fd, const void* from, size_t n, off_t at) {
  return syscall(SYS_pwrite64, fd, from, n, at);
}
off_t iobuf_sys_lseek(int fd, off_t at, int whence) { return syscall(SYS_lseek, fd, at, whence); }
int iobuf_sys_stat(int folder, const char* path, struct stat* st, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, st, flags);
}
int iobuf_sys_fstat(int fd, struct stat* st) { return (int)syscall(SYS_fstat, fd, st); }

uint64_t iobuf_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct entry {  // of getdents64
  uint64_t ino;
  int64_t next;
  unsigned short bytes;
  unsigned char kind;
  char name[];
};
void iobuf_add_open_descriptors(void) {
  _Alignas(8) char entries[2048];
  const int folder = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  for (int fd = 0; folder < 0 && fd < 1024; ++fd) iobuf_opened(fd, NULL, iobuf_by_process);
  for (long n; folder >= 0 && (n = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < n;) {
      const struct entry* const each = (const struct entry*)(entries + at);
      const int fd = each->name[0] == '.' ? -1 : atoi(each->name);
      if (fd != folder) iobuf_opened(fd, NULL, iobuf_by_process);
      at += each->bytes;
    }
  }
  if (folder >= 0) syscall(SYS_close, folder);
}

enum {  // not in the headers of Linux
  lustre = 0x0bd00bd0,
  gpfs = 0x47504653,
  beegfs = 0x19830326,
  ceph = 0x00c36400,
  orangefs = 0x20030528,
  panfs = 0xaad7aaea,
  message_queues = 0x19800202,
  configuration = 0x62656570,
  shared_folder = 0x786f4256,
};

static enum iobuf_kind kind_of(unsigned long type) {
  switch (type) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case SECURITYFS_MAGIC:
    case BPF_FS_MAGIC:
    case EFIVARFS_MAGIC:
    case SELINUX_MAGIC:
    case SMACK_MAGIC:
    case PSTOREFS_MAGIC:
    case HUGETLBFS_MAGIC:
    case BINFMTFS_MAGIC:
    case NSFS_MAGIC:
    case XENFS_SUPER_MAGIC:
    case RDTGROUP_SUPER_MAGIC:
    case message_queues:
    case configuration:
    case DEVPTS_SUPER_MAGIC:
      return iobuf_special;
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
    case CODA_SUPER_MAGIC:
    case V9FS_MAGIC:
    case FUSE_SUPER_MAGIC:
    case OCFS2_SUPER_MAGIC:
    case lustre:
    case gpfs:
    case beegfs:
    case ceph:
    case orangefs:
    case panfs:
    case shared_folder:
      return iobuf_remote;
    default:
      return iobuf_local;
  }
}

enum iobuf_kind iobuf_kind_of(int fd, dev_t dev) {
  static _Atomic dev_t last_local;
  struct statfs fs;
  if (dev == last_local) return iobuf_local;
  if (fstatfs(fd, &fs) != 0) return iobuf_special;
  const enum iobuf_kind kind = kind_of((unsigned long)fs.f_type);
  if (kind == iobuf_local) last_local = dev;
  return kind;
}
