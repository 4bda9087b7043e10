#include "culmen/store/log.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "culmen/base/bytes.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;

constexpr std::size_t header_bytes = 32, frame_header_bytes = 24, default_page = 4096;
constexpr std::uint32_t magic_number = 0x377f0682;  // one more if its checksums are of big-endian words

std::string log_of(const std::string& path) {
  std::error_code none;
  return fs::canonical(path, none).string() + "-wal";
}

std::uint32_t big_endian(const std::byte* at) {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | std::to_integer<std::uint32_t>(at[i]);
  return number;
}

std::uint32_t little_endian(const std::byte* at) {
  std::uint32_t number = 0;
  std::memcpy(&number, at, sizeof number);
  return number;
}

/// The checksum of the log. That of a frame goes on from the one in the frame before.
struct Checksum {
  std::uint32_t first = 0, second = 0;

  bool operator==(const Checksum&) const = default;

  template <class Word>
  Checksum after(BytesView bytes, Word word) const {
    auto [a, b] = *this;
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      a += word(&bytes[i]) + b;
      b += word(&bytes[i + 4]) + a;
    }
    return {a, b};
  }
  Checksum after(BytesView bytes, bool big) const {
    return big ? after(bytes, big_endian) : after(bytes, little_endian);
  }
};

struct Frame {
  std::size_t number = 0;   // from 0
  std::uint32_t page = 0;   // from 1
  std::uint32_t pages = 0;  // of the database after this commit; 0: the transaction goes on
  std::uint64_t salt = 0;   // of one log; a frame of an earlier log has another
  Checksum stored;
  BytesView content;
};

/// The frames in the order of the file, each with whether its checksum is right.
class Log {
 public:
  explicit Log(const std::string& path) : file_(log_of(path), std::ios::binary) {
    file_.read(reinterpret_cast<char*>(header_.data()), header_bytes);
    const BytesView header(header_);
    const auto magic = big_endian(&header[0]);
    const std::size_t page = big_endian(&header[8]);
    const Checksum stored{big_endian(&header[24]), big_endian(&header[28])};
    big_ = magic == magic_number + 1;
    header_is_right_ = (magic == magic_number || big_) && std::has_single_bit(page) && page >= 512 && page <= 65536 &&
                       Checksum().after(header.first(24), big_) == stored;
    salt_is_known_ = header_is_right_;
    if (!header_is_right_) {
      big_ = std::endian::native == std::endian::big;  // as SQLite writes it on such a machine
    } else {
      salt_ = salt_at(&header[16]);
      before_ = stored;
    }
    frame_.resize(frame_header_bytes + (header_is_right_ ? page : default_page));
  }

  const Bytes& header() const { return header_; }
  std::size_t page_size() const { return frame_.size() - frame_header_bytes; }

  /// False at the end.
  bool next(Frame& frame, bool& right) {
    if (!file_.read(reinterpret_cast<char*>(frame_.data()), static_cast<std::streamsize>(frame_.size()))) return false;
    const BytesView all(frame_);
    frame = {.number = number_++,
             .page = big_endian(&frame_[0]),
             .pages = big_endian(&frame_[4]),
             .salt = salt_at(&frame_[8]),
             .stored = {big_endian(&frame_[16]), big_endian(&frame_[20])},
             .content = all.subspan(frame_header_bytes)};
    right = before_ && salt_ == frame.salt && frame.page > 0 &&
            before_->after(all.first(8), big_).after(frame.content, big_) == frame.stored;
    before_ = frame.stored;
    // Without the header, the first frames tell the salt: those behind the end of this log are of earlier ones.
    salt_is_known_ = salt_is_known_ || right;
    if (!salt_is_known_) salt_ = frame.salt;
    return true;
  }

 private:
  static std::uint64_t salt_at(const std::byte* at) { return std::uint64_t{big_endian(at)} << 32 | big_endian(at + 4); }

  std::ifstream file_;
  Bytes header_ = Bytes(header_bytes), frame_;
  bool big_ = false, header_is_right_ = false, salt_is_known_ = false;
  std::optional<Checksum> before_;  // none: the next frame cannot be checked
  std::uint64_t salt_ = 0;
  std::size_t number_ = 0;
};

/// The first damaged frame, if a commit lies behind it, and the header of its log.
struct Damage {
  std::size_t frame = 0;
  Bytes header;

  bool operator==(const Damage&) const = default;
};

std::optional<Damage> damage_in(const std::string& path) {
  Log log(path);
  std::optional<std::size_t> damaged;
  Frame frame;
  for (bool right = false; log.next(frame, right);) {
    if (!right && !damaged) damaged = frame.number;
    if (right && damaged && frame.pages > 0) return Damage{*damaged, log.header()};
  }
  return {};
}

}  // namespace

bool has_log(const std::string& path) {
  std::error_code none;
  const auto size = fs::file_size(log_of(path), none);
  return !none && size > 0;
}

bool log_is_damaged(const std::string& path) {
  // Another process may be writing a frame: only what is the same at the next look is damage.
  auto found = damage_in(path);
  while (found) {
    auto again = damage_in(path);
    if (again == found) return true;
    found = std::move(again);
  }
  return false;
}

void visit_log(const std::string& path, const std::function<void(std::uint64_t page, BytesView content)>& visit) {
  std::optional<std::size_t> last;  // a transaction without an end does not count
  Frame frame;
  bool right = false;
  for (Log log(path); log.next(frame, right);) {
    if (right && frame.pages > 0) last = frame.number;
  }
  if (!last) return;
  for (Log log(path); log.next(frame, right) && frame.number <= *last;) {
    if (right) visit(frame.page, frame.content);
  }
}

void apply_log(const std::string& path, const std::string& copy) {
  std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
  visit_log(path, [&](std::uint64_t page, BytesView content) {
    file.seekp(static_cast<std::streamoff>((page - 1) * content.size()));
    file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  });
}

}  // namespace culmen
