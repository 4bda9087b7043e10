#include "culmen/store/leaves.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <optional>

#include "culmen/base/error.hpp"
#include "culmen/store/log.hpp"

namespace culmen {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of one row, as in SQLite
constexpr std::byte table_leaf{0x0D};

/// Big-endian, as everything in the file.
class Cursor {
 public:
  explicit Cursor(BytesView bytes) : reader_(bytes) {}

  std::uint64_t number(std::size_t width) {
    std::uint64_t out = 0;
    for (const auto byte : reader_.take(width)) out = out << 8 | std::to_integer<std::uint64_t>(byte);
    return out;
  }
  std::int64_t integer(std::size_t width) {
    const auto unused = 64 - 8 * width;
    return static_cast<std::int64_t>(number(width) << unused) >> unused;
  }
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (int i = 0; i < 8; ++i) {
      const auto byte = number(1);
      out = out << 7 | (byte & 0x7F);
      if (byte < 0x80) return out;
    }
    return out << 8 | number(1);
  }
  BytesView take(std::size_t n) { return reader_.take(n); }
  std::size_t left() const { return reader_.left(); }

 private:
  ByteReader reader_;
};

LeafRow::Value value_of(std::uint64_t type, Cursor& body) {
  constexpr std::size_t widths[] = {0, 1, 2, 3, 4, 6, 8};
  if (type == 0) return std::monostate();
  if (type <= 6) return body.integer(widths[type]);
  if (type == 7) return std::bit_cast<double>(body.number(8));
  if (type <= 9) return static_cast<std::int64_t>(type - 8);
  if (type < 12) throw Error("a reserved type");
  const auto bytes = body.take((type - 12) / 2);
  return Bytes(bytes.begin(), bytes.end());
}

class Pages {
 public:
  explicit Pages(const std::string& path) : file_(path, std::ios::binary) {
    Bytes head(100);
    if (!read(head, 0)) return;
    size_ = Cursor(BytesView(head).subspan(16)).number(2);
    if (size_ == 1) size_ = 65536;
    usable_ = size_ - std::to_integer<std::size_t>(head[20]);
    if (!std::has_single_bit(size_) || size_ < 512 || usable_ < 480)
      size_ = usable_ = 4096;  // the first page is damaged
  }

  /// From 1.
  std::optional<Bytes> page(std::uint64_t number) {
    Bytes out(size_);
    if (size_ == 0 || number == 0 || !read(out, (number - 1) * size_)) return {};
    return out;
  }

  std::optional<LeafRow> row(BytesView page, std::size_t at) {
    try {
      Cursor cell(page.subspan(std::min(at, page.size())));
      const auto length = cell.varint();
      LeafRow out;
      out.id = static_cast<std::int64_t>(cell.varint());
      const auto payload = content(cell, length);
      Cursor head(payload);
      const auto head_bytes = head.varint();
      if (head_bytes > length) return {};
      Cursor body(BytesView(payload).subspan(head_bytes));
      while (length - head.left() < head_bytes) out.values.push_back(value_of(head.varint(), body));
      return out;
    } catch (const Error&) {
      return {};
    }
  }

 private:
  bool read(Bytes& into, std::uint64_t at) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    return bool(file_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size())));
  }

  /// The first part is in the cell, the rest in a chain of pages.
  Bytes content(Cursor& cell, std::uint64_t length) {
    if (length > most_bytes) throw Error("too long");
    const auto least = (usable_ - 12) * 32 / 255 - 23, wanted = least + (length - least) % (usable_ - 4);
    const auto here = length <= usable_ - 35 ? length : wanted <= usable_ - 35 ? wanted : least;
    const auto first = cell.take(here);
    Bytes out(first.begin(), first.end());
    auto next = out.size() < length ? cell.number(4) : 0;
    while (out.size() < length) {
      const auto more = page(next);
      if (!more) throw Error("an overflow page is missing");
      Cursor overflow(*more);
      next = overflow.number(4);
      const auto part = overflow.take(std::min<std::uint64_t>(usable_ - 4, length - out.size()));
      out.insert(out.end(), part.begin(), part.end());
      if (next == 0 && out.size() < length) throw Error("an overflow page is missing");
    }
    return out;
  }

  std::ifstream file_;
  std::size_t size_ = 0, usable_ = 0;
};

void visit_page(Pages& pages, BytesView page, const std::function<void(const LeafRow&)>& visit) {
  if (page.size() < 8 || page.front() != table_leaf) return;
  Cursor head(page.subspan(3));
  const auto cells = head.number(2);
  head.take(3);
  for (std::uint64_t i = 0; i < cells && head.left() >= 2; ++i) {
    if (const auto row = pages.row(page, head.number(2))) visit(*row);
  }
}

}  // namespace

void visit_leaves(const std::string& path, const std::function<void(const LeafRow&)>& visit) {
  Pages pages(path);
  for (std::uint64_t number = 2; const auto page = pages.page(number); ++number) visit_page(pages, *page, visit);
}

void visit_logged_leaves(const std::string& log_of, const std::string& path,
                         const std::function<void(const LeafRow&)>& visit) {
  Pages pages(path);
  visit_log(log_of, [&](std::uint64_t number, BytesView page) {
    if (number > 1) visit_page(pages, page, visit);
  });
}

}  // namespace culmen
