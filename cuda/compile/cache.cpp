#include "compile/cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace chol::cuda {
namespace {

constexpr const char* kMagic = "chol cubin 1";

/// Format of a file: one line each for the magic string, the symbol, the size of the code and the
/// hash of symbol and code; then the code.
std::string header_of(const Cubin& cubin) {
  std::ostringstream text;
  text << kMagic << '\n'
       << cubin.symbol << '\n'
       << cubin.code.size() << '\n'
       << hash_of(cubin.code, hash_of(cubin.symbol)) << '\n';
  return text.str();
}

/// Creates the folder and its parent.
void make_folder(const std::string& folder) {
  const size_t slash = folder.rfind('/');
  if (slash != std::string::npos && slash > 0) mkdir(folder.substr(0, slash).c_str(), 0755);
  mkdir(folder.c_str(), 0755);
}

}  // namespace

uint64_t hash_of(const std::string& text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

std::string cache_folder() {
  const char* cache = secure_getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/chol";
  const char* home = secure_getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/chol" : std::string();
}

bool load_cubin(const std::string& folder, const std::string& key, Cubin& cubin) {
  if (folder.empty()) return false;
  std::ifstream file(folder + '/' + key, std::ios::binary);
  if (!file) return false;
  std::ostringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  std::istringstream lines(text);
  std::string magic, size, hash;
  Cubin read;
  for (std::string* line : {&magic, &read.symbol, &size, &hash})
    if (!std::getline(lines, *line)) return false;
  const std::streamoff begin = lines.tellg();
  if (begin < 0) return false;
  read.code = text.substr(static_cast<size_t>(begin));
  // The file must be identical to what would be written.
  if (read.code.empty() || text.compare(0, static_cast<size_t>(begin), header_of(read)) != 0)
    return false;
  cubin = std::move(read);
  return true;
}

bool store_cubin(const std::string& folder, const std::string& key, const Cubin& cubin) {
  if (folder.empty()) return false;
  make_folder(folder);
  std::string temporary = folder + '/' + key + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return false;
  FILE* file = fdopen(descriptor, "wb");
  const std::string header = header_of(cubin);
  bool good = file && std::fwrite(header.data(), 1, header.size(), file) == header.size() &&
              std::fwrite(cubin.code.data(), 1, cubin.code.size(), file) == cubin.code.size();
  if (file)
    good = std::fclose(file) == 0 && good;
  else
    close(descriptor);
  good = good && std::rename(temporary.c_str(), (folder + '/' + key).c_str()) == 0;
  if (!good) unlink(temporary.c_str());
  return good;
}

}  // namespace chol::cuda
