#include "culmen/store/log.hpp"

#include <algorithm>
#include <array>
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

/// The checksum of the log. Each frame's checksum continues the one of the frame before.
struct LogChecksum {
  std::uint32_t first = 0, second = 0;

  bool operator==(const LogChecksum&) const = default;

  template <class Word>
  LogChecksum after(BytesView bytes, Word word) const {
    auto [a, b] = *this;
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      a += word(&bytes[i]) + b;
      b += word(&bytes[i + 4]) + a;
    }
    return {a, b};
  }
  LogChecksum after(BytesView bytes, bool big) const {
    return big ? after(bytes, big_endian) : after(bytes, little_endian);
  }
};

struct Frame {
  std::size_t number = 0;   // from 0
  std::uint32_t page = 0;   // from 1
  std::uint32_t pages = 0;  // of the database after this commit; 0: the transaction continues
  LogChecksum stored;
  BytesView content;
};

/// The frames in the order of the file, each with whether its checksum is right. After missing or additional bytes, it
/// continues at the next frame with the log's salt.
class Log {
 public:
  explicit Log(const std::string& path) : file_(log_of(path), std::ios::binary) {
    if (!read(0, header_)) return;  // there is none
    const BytesView header(header_);
    const auto magic = big_endian(&header[0]);
    const std::size_t page = big_endian(&header[8]);
    const LogChecksum stored{big_endian(&header[24]), big_endian(&header[28])};
    big_ = magic == magic_number + 1;
    const bool right = (magic == magic_number || big_) && std::has_single_bit(page) && page >= 512 && page <= 65536 &&
                       LogChecksum().after(header.first(24), big_) == stored;
    frame_.resize(frame_header_bytes + (right ? page : default_page));
    if (right) {
      salt_ = salt_at(&header[16]);
      before_ = stored;
    } else {
      big_ = std::endian::native == std::endian::big;  // as SQLite writes it on such a machine
      find_first();
    }
  }

  const Bytes& header() const { return header_; }

  /// False at the end.
  bool next(Frame& frame, bool& right) {
    if (salt_ == 0) return false;
    if (!read(at_, frame_) || salt_at(&frame_[8]) != salt_) {
      const auto found = find_salt(lost_ ? *lost_ : at_ + 1);
      if (!found || !read(*found, frame_)) return false;
      at_ = *found;
      before_.reset();
    }
    const BytesView all(frame_);
    frame = {.number = number_++,
             .page = big_endian(&frame_[0]),
             .pages = big_endian(&frame_[4]),
             .stored = {big_endian(&frame_[16]), big_endian(&frame_[20])},
             .content = all.subspan(frame_header_bytes)};
    right = before_ && frame.page > 0 && checksum_of(all, *before_) == frame.stored;
    before_ = frame.stored;
    lost_ = right ? std::nullopt : std::optional(at_ + 1);
    at_ += frame_.size();
    return true;
  }

 private:
  static std::uint64_t salt_at(const std::byte* at) { return std::uint64_t{big_endian(at)} << 32 | big_endian(at + 4); }

  LogChecksum checksum_of(BytesView frame, LogChecksum before) const {
    return before.after(frame.first(8), big_).after(frame.subspan(frame_header_bytes), big_);
  }

  bool read(std::uint64_t at, Bytes& into) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    return bool(file_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size())));
  }

  /// All that is there, at most `most` bytes.
  Bytes read_some(std::uint64_t at, std::size_t most) {
    file_.clear();
    const auto end = static_cast<std::uint64_t>(file_.seekg(0, std::ios::end).tellg());
    Bytes out(at < end ? std::min<std::uint64_t>(most, end - at) : 0);
    read(at, out);
    out.resize(static_cast<std::size_t>(file_.gcount()));
    return out;
  }

  /// The place of the first frame with the log's salt that begins at `from` or behind it.
  std::optional<std::uint64_t> find_salt(std::uint64_t from) {
    constexpr std::size_t block = std::size_t{1} << 16;
    std::array<std::byte, 8> salt{};
    for (std::size_t i = 0; i < salt.size(); ++i) salt[i] = std::byte(salt_ >> (56 - 8 * i));
    for (;; from += block) {
      const auto bytes = read_some(from + salt.size(), block + salt.size());
      const auto found = std::ranges::search(bytes, salt);
      if (!found.empty()) return from + static_cast<std::uint64_t>(found.begin() - bytes.begin());
      if (bytes.size() < block) return {};
    }
  }

  /// Without the header, two frames that follow each other tell the salt. Those of an earlier log are behind them.
  void find_first() {
    constexpr std::size_t most = std::size_t{1} << 26;
    const auto all = read_some(0, most);
    const BytesView bytes(all);
    const auto size = frame_.size();
    for (std::size_t at = 0; at + 2 * size <= bytes.size(); ++at) {
      const auto first = bytes.subspan(at, size), second = bytes.subspan(at + size, size);
      const auto salt = salt_at(&first[8]);
      if (salt == 0 || salt != salt_at(&second[8])) continue;
      const LogChecksum stored{big_endian(&first[16]), big_endian(&first[20])};
      if (checksum_of(second, stored) != LogChecksum{big_endian(&second[16]), big_endian(&second[20])}) continue;
      salt_ = salt;
      at_ = at;
      return;
    }
  }

  std::ifstream file_;
  Bytes header_ = Bytes(header_bytes), frame_;
  bool big_ = false;
  std::uint64_t salt_ = 0;             // of this log; a frame of an earlier one has another. 0: no frame was found
  std::uint64_t at_ = header_bytes;    // the next frame
  std::optional<std::uint64_t> lost_;  // the last frame was damaged: from here, the next one must be looked for
  std::optional<LogChecksum> before_;  // none: the next frame cannot be checked
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
