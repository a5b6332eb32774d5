// Best-fit allocation from large pieces of memory; adjacent free blocks are merged.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace chol {

/// The caller keeps the size of an allocation. The memory itself is never accessed.
class FreeBlocks {
 public:
  /// Adds a piece of free memory.
  void add_piece(char* memory, size_t bytes) {
    pieces_[memory] = bytes;
    insert(memory, bytes);
  }
  /// nullptr: no free block is large enough.
  char* take(size_t bytes) {
    const auto found = by_size_.lower_bound({bytes, nullptr});
    if (found == by_size_.end()) return nullptr;
    const auto [size, memory] = *found;
    erase(memory, size);
    if (size > bytes) insert(memory + bytes, size - bytes);
    return memory;
  }
  void give_back(char* memory, size_t bytes) {
    auto next = by_address_.lower_bound(memory);
    // Adjacent pieces are not merged.
    if (next != by_address_.end() && next->first == memory + bytes && !pieces_.count(next->first)) {
      const size_t more = next->second;
      erase(memory + bytes, more);
      bytes += more;
      next = by_address_.lower_bound(memory);
    }
    if (next != by_address_.begin() && !pieces_.count(memory)) {
      const auto [before, size] = *std::prev(next);
      if (before + size == memory) {
        erase(before, size);
        memory = before;
        bytes += size;
      }
    }
    insert(memory, bytes);
  }
  /// Removes every piece that is entirely free, after release(its memory).
  template <class Release>
  void remove_unused(Release&& release) {
    for (auto piece = pieces_.begin(); piece != pieces_.end();) {
      const auto block = by_address_.find(piece->first);
      if (block == by_address_.end() || block->second != piece->second) {
        ++piece;
        continue;
      }
      release(piece->first);
      erase(piece->first, piece->second);
      piece = pieces_.erase(piece);
    }
  }
  size_t bytes_of_pieces() const {
    size_t sum = 0;
    for (const auto& piece : pieces_) sum += piece.second;
    return sum;
  }

 private:
  void insert(char* memory, size_t bytes) {
    by_address_[memory] = bytes;
    by_size_.insert({bytes, memory});
  }
  void erase(char* memory, size_t bytes) {
    by_size_.erase({bytes, memory});
    by_address_.erase(memory);
  }

  std::map<char*, size_t> pieces_, by_address_;
  std::set<std::pair<size_t, char*>> by_size_;
};

}  // namespace chol
