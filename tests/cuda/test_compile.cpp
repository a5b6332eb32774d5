// Kernels compiled at run time, the parts that need no device: requests, compilation by NVRTC for
// an H200, and the files of the cache.
//   test_compile shapes | cache | nvrtc
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "compile/cache.hpp"
#include "compile/code.hpp"
#include "compile/nvrtc.hpp"
#include "interleaved/jit/request.hpp"
#include "interleaved_choices.hpp"

namespace chol::cuda {
namespace {

int failures = 0;
void expect(bool good, const std::string& what) {
  if (good) return;
  ++failures;
  std::printf("FAILED %s\n", what.c_str());
}

constexpr CompileTarget kHopper{90, 227 << 10, 228 << 10};

/// A temporary folder.
struct Folder {
  std::string path = "/tmp/chol_compile_XXXXXX";
  Folder() {
    if (!mkdtemp(path.data())) std::abort();
  }
  ~Folder() {
    if (std::system(("chmod -R u+w " + path + " && rm -rf " + path).c_str()) != 0) std::abort();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void check_shapes() {
  constexpr Choice kShared = shared(6, 8, 96);
  const auto can = [](Routine routine, char precision, const Choice& choice, int64_t n) {
    return can_compile({routine, precision}, choice, n, kHopper.block_memory);
  };
  expect(can(Routine::potrf, 'd', kShared, 60), "block columns of 6");
  expect(!can(Routine::potrf, 'd', kShared, 4000), "a triangle larger than shared memory");
  expect(!can(Routine::potrf, 'd', kShared, INT64_MAX), "every order");
  expect(!can(Routine::potrf, 'd', shared(9, 8, 96), 60), "block columns of 9");
  expect(!can(Routine::potrf, 'd', shared(8, 12, 96), 60), "12 matrices side by side");
  expect(!can(Routine::potrf, 'd', shared(8, 8, 100), 60), "threads that fill no warp");
  expect(!can(Routine::potrf, 's', shared(8, 2, 64), 60), "rows of less than 16 bytes");
  expect(!can(Routine::potrf, 'd', shared(8, 32, 32), 60),
         "a thread's rows that end inside the diagonal block");
  expect(can(Routine::potrs, 'd', shared(8, 32, 32), 20), "the same for a solve");
  expect(!can(Routine::potrf, 'd', shared(0, 0, 0), 60), "no knobs");
  expect(can(Routine::potrf, 's', registers(64), 22), "s 22 in registers");
  expect(!can(Routine::potrf, 'd', registers(64), 30), "d 30 in registers");
  expect(can(Routine::potrf, 'd', columns(6, 0), 24), "six columns kept");
  expect(!can(Routine::potrf, 'd', columns(1, 1), 40), "too few columns kept");
  expect(!can(Routine::potrf, 'd', columns(0, 1), 60), "kept columns beyond the memory");
  expect(can(Routine::potrf, 'd', columns(12, 4), 45), "four threads a matrix");
  expect(can(Routine::potrs, 'd', columns(12, 2), 21), "the same of a solve");
  expect(!can(Routine::potrs, 'd', columns(12, 3), 21), "three threads a matrix");
  expect(!can(Routine::potrs, 'd', columns(12, 16), 40), "sixteen");
  expect(!can(Routine::potrs, 'd', columns(0, -1), 21), "less than none");
  expect(!can(Routine::posv, 's', columns(40, 2), 48), "columns beyond the registers");
  expect(!can(Routine::potrf, 'd', kInterleavedStreamed, 60), "a kernel that is built");

  // The memory of a triangle is what its elements and the edges need.
  for (const int columns : {3, 4, 8})
    for (const int n : {1, 7, 8, 33, 100}) {
      int64_t elements = columns + 16;
      for (int j = 0; j < n; j += columns) elements += int64_t(columns) * (n - j);
      expect(shared_block_bytes(8, n, 0, {columns, 4, 64}) == elements * 4 * 8,
             "memory of order " + std::to_string(n));
    }
  expect(least_blocks({8, 8, 32}, 20 << 10, 228 << 10) == 8, "eight blocks by both bounds");
  expect(least_blocks({8, 8, 128}, 20 << 10, 228 << 10) == 2, "two blocks by registers");
  expect(least_blocks({8, 8, 32}, 200 << 10, 228 << 10) == 1, "one block by memory");
  expect(interleaved_request(Routine::potrf, 'c', kShared, 40, kHopper).name ==
             "chol::cuda::shared_kernel<chol::cuda::Complex<float>, "
             "chol::cuda::InterleavedSharedShape<6, 4, 8, 96, 2>, "
             "chol::cuda::InterleavedTask::factor>",
         interleaved_request(Routine::potrf, 'c', kShared, 40, kHopper).name);
}

void check_tiled_shapes() {
  // Orders 3 to 5 of the tiles are without loops.
  const auto can = [](Routine routine, char precision, int edge, int order, int threads,
                      int64_t n) {
    return can_compile({routine, precision}, tiled(edge, order % 3, order / 3, threads), n,
                       kHopper.block_memory);
  };
  for (const Routine routine : {Routine::potrf, Routine::posv})
    for (const int order : {0, 1, 2}) {
      for (int edge = 1; edge <= kMostTile; ++edge)
        expect(can(routine, 's', edge, order, 64, INT64_MAX), "loops over tiles, every order");
      expect(!can(routine, 'z', 9, order, 32, 100) && !can(routine, 'z', 0, order, 32, 100),
             "tiles of 9 or none");
      for (const int threads : {-32, 16, 48, 96, 512})
        expect(!can(routine, 'd', 4, order, threads, 100), "threads " + std::to_string(threads));
      expect(can(routine, 'd', 4, order + 3, 256, 20) && !can(routine, 'd', 4, order + 3, 256, 21),
             "d without loops as far as 20");
      expect(can(routine, 's', 2, order + 3, 64, 24) && !can(routine, 's', 2, order + 3, 64, 25),
             "s without loops as far as 24");
      expect(can(routine, 's', 1, order + 3, 64, 16) && !can(routine, 's', 1, order + 3, 64, 17),
             "16 tiles, not 17");
      expect(can(routine, 'z', 4, order + 3, 64, 14) && !can(routine, 'z', 4, order + 3, 64, 15),
             "z without loops as far as 14");
      expect(!can(routine, 'd', 4, order + 3, 64, INT64_MAX), "every order without loops");
    }
  for (const int looking : {-1, 3})
    expect(!can_compile({Routine::potrf, 'd'}, tiled(4, looking, 0, 64), 8, kHopper.block_memory),
           "an order of tiles that does not exist");
  expect(!can(Routine::potrs, 'd', 8, 2, 32, 8), "a solve");
  const auto name = [](const Choice& choice) {
    return interleaved_request(Routine::posv, 'c', choice, 13, kHopper).name;
  };
  const std::string kernel =
      "chol::cuda::tiled_kernel<chol::cuda::Complex<float>, "
      "chol::cuda::InterleavedTask::factor_and_solve, ";
  expect(name(tiled(8, 2, 0, 32)) == kernel + "8, chol::cuda::Looking::top, 0, 32>",
         name(tiled(8, 2, 0, 32)));
  expect(name(tiled(4, 1, 1, 64)) == kernel + "4, chol::cuda::Looking::right, 13, 64>",
         name(tiled(4, 1, 1, 64)));
}

void check_damage(const std::string& folder, const Cubin& cubin) {
  const std::string path = folder + "/key", good = text_of(path);
  Cubin read;
  for (size_t size = 0; size < good.size(); ++size) {
    write_text(path, good.substr(0, size));
    expect(!load_cubin(folder, "key", read), "file cut at " + std::to_string(size));
  }
  for (size_t k = 0; k < good.size(); ++k) {
    std::string damaged = good;
    damaged[k] = char(damaged[k] ^ 4);
    write_text(path, damaged);
    expect(!load_cubin(folder, "key", read), "bit turned at " + std::to_string(k));
  }
  write_text(path, good + "more");
  expect(!load_cubin(folder, "key", read), "a longer file");
  expect(store_cubin(folder, "key", cubin) && load_cubin(folder, "key", read),
         "replacing a damaged file");
}

void check_cache() {
  const Folder folder;
  const std::string inner = folder.path + "/cache/chol";
  Cubin cubin{"symbol", std::string("\0code\n\xff of a kernel", 18)}, read;
  expect(!load_cubin(inner, "key", read), "a missing folder");
  expect(store_cubin(inner, "key", cubin), "making the folder");
  expect(load_cubin(inner, "key", read) && read.symbol == cubin.symbol && read.code == cubin.code,
         "what was kept");
  expect(!load_cubin(inner, "other", read), "another key");
  check_damage(inner, cubin);

  chmod(inner.c_str(), 0555);
  if (access(inner.c_str(), W_OK) != 0) {  // root can write everywhere
    expect(!store_cubin(inner, "new", cubin), "a folder that cannot be written");
    expect(load_cubin(inner, "key", read), "reading where nothing can be written");
  }
  expect(!store_cubin("/proc/chol/cache", "key", cubin), "a folder that cannot be created");
  expect(!store_cubin("", "key", cubin) && !load_cubin("", "key", read), "no folder");

  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  expect(cache_folder() == "/somewhere/chol", "XDG_CACHE_HOME");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/me", 1);
  expect(cache_folder() == "/home/me/.cache/chol", "HOME");
  unsetenv("HOME");
  expect(cache_folder().empty(), "neither");
}

/// Concurrent processes that write and read one file never read a partial one.
void check_two_processes() {
  const Folder folder;
  pid_t children[2];
  for (int own = 0; own < 2; ++own) {
    children[own] = fork();
    if (children[own] != 0) continue;
    const Cubin mine{"own", std::string(200000, char('a' + own))};
    for (int round = 0; round < 100; ++round) {
      Cubin read;
      if (!store_cubin(folder.path, "key", mine) || !load_cubin(folder.path, "key", read)) _exit(1);
    }
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    expect(status == 0, "two processes at once");
  }
}

struct Kind {
  Routine routine;
  const char* precisions;
  Choice choice;
  int n;
};
constexpr Kind kKinds[] = {
    {Routine::potrf, "sz", registers(64), 11},       {Routine::potrs, "d", registers(32), 15},
    {Routine::posv, "c", registers(32), 15},         {Routine::potrf, "s", columns(5, 0), 17},
    {Routine::posv, "d", columns(3, 0), 18},         {Routine::posv, "z", columns(0, 0), 17},
    {Routine::potrs, "dc", columns(4, 0), 15},       {Routine::potrs, "z", columns(5, 8), 13},
    {Routine::potrf, "c", columns(6, 4), 15},        {Routine::posv, "s", columns(7, 2), 17},
    {Routine::potrf, "cz", shared(5, 8, 64), 50},    {Routine::potrf, "d", shared(1, 2, 32), 30},
    {Routine::potrs, "s", shared(6, 4, 128), 50},    {Routine::posv, "c", shared(7, 4, 512), 50},
    {Routine::potrf, "dc", tiled(3, 0, 0, 128), 50}, {Routine::potrf, "z", tiled(4, 1, 0, 64), 50},
    {Routine::posv, "s", tiled(8, 2, 0, 32), 50},    {Routine::potrf, "d", tiled(4, 0, 1, 32), 11},
    {Routine::posv, "s", tiled(2, 1, 1, 256), 15},   {Routine::potrf, "z", tiled(8, 2, 1, 64), 13},
};

void check_nvrtc() {
  const Folder folder;
  for (const Kind& kind : kKinds)
    for (const char* p = kind.precisions; *p; ++p) {
      const KernelRequest request =
          interleaved_request(kind.routine, *p, kind.choice, kind.n, kHopper);
      expect(can_compile({kind.routine, *p}, kind.choice, kind.n, kHopper.block_memory),
             "accepted: " + request.name);
      Cubin cubin, again;
      bool found = true;
      const Status status = obtain_cubin(folder.path, request, cubin, found);
      expect(status.ok() && !found, status.ok() ? request.name : status.message());
      expect(cubin.code.compare(0, 4, "\177ELF") == 0, "code of " + request.name);
      expect(obtain_cubin(folder.path, request, again, found).ok() && found &&
                 again.code == cubin.code && again.symbol == cubin.symbol,
             "kept: " + request.name);
    }
  const KernelRequest request =
      interleaved_request(kKinds[0].routine, 's', kKinds[0].choice, 5, kHopper);
  Cubin cubin;
  bool found = false;
  expect(obtain_cubin(folder.path, request, cubin, found).ok(), "first");
  write_text(folder.path + '/' + request_key(request), "damaged");
  expect(obtain_cubin(folder.path, request, cubin, found).ok() && !found, "damaged file");
  expect(obtain_cubin(folder.path, request, cubin, found).ok() && found, "made good");
  expect(obtain_cubin("/proc/chol", request, cubin, found).ok() && !found,
         "no folder for the cache");
  expect(!compile({"interleaved/shared/factor.cuh", "chol::cuda::no_kernel<3>", 90}, cubin).ok(),
         "a kernel that does not exist");
  expect(!compile({request.header, request.name, 12}, cubin).ok(), "no such device");
}

}  // namespace
}  // namespace chol::cuda

int main(int argc, char** argv) {
  using namespace chol::cuda;
  const std::string part = argc == 2 ? argv[1] : "";
  if (part == "shapes") {
    check_shapes();
    check_tiled_shapes();
  } else if (part == "cache") {
    check_cache();
    check_two_processes();
  } else if (part == "nvrtc") {
    if (nvrtc_version() == 0) {
      std::printf("SKIPPED: no libnvrtc\n");
      return 0;
    }
    check_nvrtc();
  } else {
    std::fprintf(stderr, "usage: test_compile shapes | cache | nvrtc\n");
    return 2;
  }
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
