#include "tlr/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/precisions.h"

namespace chol::tlr {
namespace {

constexpr char kMagic[8] = {'C', 'H', 'O', 'L', '-', 'T', 'L', 'R'};
constexpr uint32_t kVersion = 2;

struct Close {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

/// FNV-1a over 64-bit words (Fowler, Noll, Vo), the last word padded with zeros.
class Checksum {
 public:
  void add(const void* data, size_t bytes) {
    const char* p = static_cast<const char*>(data);
    for (; bytes > 0;) {
      const size_t part = bytes < 8 ? bytes : 8;
      uint64_t word = 0;
      std::memcpy(&word, p, part);
      sum_ = (sum_ ^ word) * 0x100000001b3;
      sum_ ^= sum_ >> 29;
      p += part;
      bytes -= part;
    }
  }
  uint64_t value() const { return sum_; }

 private:
  uint64_t sum_ = 0xcbf29ce484222325;
};

class Writer {
 public:
  explicit Writer(FILE* file) : file_(file) {}
  void write(const void* data, size_t bytes) {
    sum_.add(data, bytes);
    good_ = good_ && (bytes == 0 || std::fwrite(data, 1, bytes, file_) == bytes);
  }
  bool finish() {
    const uint64_t sum = sum_.value();
    return good_ && std::fwrite(&sum, 1, sizeof sum, file_) == sizeof sum &&
           std::fflush(file_) == 0;
  }

 private:
  FILE* file_;
  Checksum sum_;
  bool good_ = true;
};

class Reader {
 public:
  explicit Reader(FILE* file) : file_(file) {}
  bool read(void* data, size_t bytes) {
    if (bytes > 0 && std::fread(data, 1, bytes, file_) != bytes) return false;
    sum_.add(data, bytes);
    return true;
  }
  bool finish() {
    uint64_t sum = 0;
    return std::fread(&sum, 1, sizeof sum, file_) == sizeof sum && sum == sum_.value() &&
           std::fgetc(file_) == EOF;
  }

 private:
  FILE* file_;
  Checksum sum_;
};

Status failed(const char* function, const char* path, const char* what) {
  return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: path = %.100s, %s", function, path, what);
}

bool same_bytes(const FileHeader& a, const FileHeader& b) {
  const char* const bytes = reinterpret_cast<const char*>(&a);
  return std::equal(bytes, bytes + sizeof a, reinterpret_cast<const char*>(&b));
}

constexpr int64_t kDense = -1;

/// Reads `count` elements into a new buffer; false if the file is truncated.
template <class T>
bool read_buffer(backend::TileOps<T>& ops, Reader& reader, Buffer<T>& buffer, int64_t count) {
  buffer = ops.buffer(count);
  const size_t bytes = static_cast<size_t>(count) * sizeof(T);
  if (!ops.memory()) return reader.read(buffer.get(), bytes);
  const Buffer<T> staging(count);
  if (!reader.read(staging.get(), bytes)) return false;
  ops.transfer(count, 1, staging.get(), count, buffer.get(), count);
  return true;
}

template <class T>
void write_buffer(backend::TileOps<T>& ops, Writer& writer, const Buffer<T>& buffer,
                  int64_t count) {
  const size_t bytes = static_cast<size_t>(count) * sizeof(T);
  if (!ops.memory()) return writer.write(buffer.get(), bytes);
  const Buffer<T> staging(count);
  ops.transfer(count, 1, buffer.get(), count, staging.get(), count);
  writer.write(staging.get(), bytes);
}

template <class T>
bool read_tiles(backend::TileOps<T>& ops, Reader& reader, Matrix<T>& A) {
  bool good = true;
  Matrix<T>::for_each_tile(
      A,
      [&](int64_t i) {
        good = good && read_buffer(ops, reader, A.diagonal[i], A.rows(i) * A.rows(i));
      },
      [&](int64_t i, int64_t j, Tile<T>& tile) {
        int64_t rank = 0;
        good = good && reader.read(&rank, sizeof rank) && rank >= kDense && rank <= A.tile;
        if (!good) return;
        tile.dense = rank == kDense;
        tile.rank = tile.dense ? 0 : rank;
        good = read_buffer(ops, reader, tile.U, A.rows(i) * A.width(i, j)) &&
               read_buffer(ops, reader, tile.V, A.rows(j) * tile.rank);
      });
  return good;
}

template <class T>
void write_order(Writer& writer, const Matrix<T>& A) {
  writer.write(A.permutation.data(), sizeof(int64_t) * A.permutation.size());
  for (const auto& signs : A.signs) {
    const int64_t count = std::ssize(signs);
    writer.write(&count, sizeof count);
    writer.write(signs.data(), sizeof(RealOf<T>) * signs.size());
  }
}

/// Rejects invalid permutations and signs before they are used.
template <class T>
bool read_order(Reader& reader, const FileHeader& header, Matrix<T>& A) {
  if (header.is_permuted) {
    A.permutation.resize(static_cast<size_t>(A.n));
    if (!reader.read(A.permutation.data(), sizeof(int64_t) * A.permutation.size())) return false;
    std::vector<bool> is_there(static_cast<size_t>(A.n), false);
    for (const int64_t row : A.permutation) {
      if (row < 0 || row >= A.n || is_there[row]) return false;
      is_there[row] = true;
    }
  }
  if (header.is_ldl) A.signs.resize(static_cast<size_t>(A.tiles));
  for (int64_t i = 0; i < std::ssize(A.signs); ++i) {
    int64_t count = 0;
    if (!reader.read(&count, sizeof count) || (count != 0 && count != A.rows(i))) return false;
    auto& signs = A.signs[i];
    signs.resize(static_cast<size_t>(count));
    if (!reader.read(signs.data(), sizeof(RealOf<T>) * signs.size())) return false;
    for (const RealOf<T> sign : signs)
      if (sign != 1 && sign != -1) return false;
  }
  return true;
}

}  // namespace

template <class T>
Status save(backend::TileOps<T>& ops, const Matrix<T>& A, const char* path) {
  static constexpr const char* kFunction = "chol_tlr_save";
  const File file(std::fopen(path, "wb"));
  if (!file) return failed(kFunction, path, std::strerror(errno));
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.byte_order = 1;
  header.type = precision_letter<T>;
  header.state = static_cast<uint8_t>(A.state);
  header.n = A.n;
  header.tile = A.tile;
  header.properties = A;
  header.is_permuted = !A.permutation.empty();
  header.is_ldl = A.is_ldl();
  Writer writer(file.get());
  writer.write(&header, sizeof header);
  write_order(writer, A);
  Matrix<T>::for_each_tile(
      A, [&](int64_t i) { write_buffer(ops, writer, A.diagonal[i], A.rows(i) * A.rows(i)); },
      [&](int64_t i, int64_t j, const Tile<T>& tile) {
        const int64_t rank = tile.dense ? kDense : tile.rank;
        writer.write(&rank, sizeof rank);
        write_buffer(ops, writer, tile.U, A.rows(i) * A.width(i, j));
        write_buffer(ops, writer, tile.V, A.rows(j) * tile.rank);
      });
  if (!writer.finish()) return failed(kFunction, path, "could not be written to its end");
  return Status::success();
}

Status load_header(const char* path, FileHeader& header) {
  static constexpr const char* kFunction = "chol_tlr_load";
  const File file(std::fopen(path, "rb"));
  if (!file) return failed(kFunction, path, std::strerror(errno));
  if (std::fread(&header, 1, sizeof header, file.get()) != sizeof header ||
      std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return failed(kFunction, path, "must be a file of chol_tlr_save");
  if (header.version != kVersion || header.byte_order != 1)
    return failed(kFunction, path, "must be of version 2 and this machine's byte order");
  const auto state = static_cast<State>(header.state);
  const bool is_type = header.type && std::strchr("sdcz", header.type);
  if (!is_type || header.n < 0 || header.tile < 1 || header.tile > std::max<int64_t>(1, header.n) ||
      (state != State::assembled && state != State::factored) || header.is_permuted > 1 ||
      header.is_ldl > 1)
    return failed(kFunction, path, "is damaged");
  // The number of tiles is accepted only if the file is long enough for their ranks.
  if (std::fseek(file.get(), 0, SEEK_END) != 0)
    return failed(kFunction, path, std::strerror(errno));
  const double tiles = std::max(1.0, double(header.n) / double(header.tile));
  if (double(std::ftell(file.get())) < tiles * (tiles - 1) / 2 * 8 + double(header.n))
    return failed(kFunction, path, "is cut");
  return Status::success();
}

template <class T>
Status load(backend::TileOps<T>& ops, const char* path, const FileHeader& expected,
            std::unique_ptr<Matrix<T>>& A) {
  static constexpr const char* kFunction = "chol_tlr_load";
  const File file(std::fopen(path, "rb"));
  if (!file) return failed(kFunction, path, std::strerror(errno));
  Reader reader(file.get());
  FileHeader header;
  if (!reader.read(&header, sizeof header) || !same_bytes(header, expected))
    return failed(kFunction, path, "was changed meanwhile");
  auto made = std::make_unique<Matrix<T>>(header.n, header.tile);
  made->clear();
  const int64_t shorter = header.properties.shorter;
  const bool is_place = shorter >= 0 && shorter < made->tiles;
  if (made->tiles > 0 && !is_place) return failed(kFunction, path, "is damaged");
  static_cast<Properties&>(*made) = header.properties;
  if (!read_order(reader, header, *made) || !read_tiles(ops, reader, *made) || !reader.finish())
    return failed(kFunction, path, "is damaged: its checksum or its length is another one");
  made->state = static_cast<State>(header.state);
  A = std::move(made);
  return Status::success();
}

#define CHOL_INSTANTIATE(prefix, T, R)                                          \
  template Status save<T>(backend::TileOps<T>&, const Matrix<T>&, const char*); \
  template Status load<T>(backend::TileOps<T>&, const char*, const FileHeader&, \
                          std::unique_ptr<Matrix<T>>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
