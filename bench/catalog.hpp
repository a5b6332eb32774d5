// The contestants of chol-bench: their libraries and how their processes are started. A contestant
// on a GPU is an entry here with a separate program for the same protocol.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace chol::bench {

enum class Kind { chol, lapack, mkl_compact, eigen, eigen_fixed };

struct Contestant {
  std::string name;
  Kind kind = Kind::chol;
  std::vector<std::string> libraries;  ///< opened in this order
  std::string set_threads;             ///< the function that sets the library's own threads
  std::vector<std::pair<std::string, std::string>> environment;
  std::string program = "chol-bench-peer";
};

/// Additional folders to search.
struct Places {
  std::string chol = "libchol.so.0";
  std::string mkl;  ///< folder that holds libmkl_rt.so.*, "" when there is none
};

/// Every peer by name, in the order of the CSV's columns, installed or not.
const std::vector<std::string>& peer_names();
/// The peers installed on this machine.
std::vector<Contestant> peers_here(const Places& places);
Contestant chol_contestant(const std::string& name, const std::string& library);
Kind kind_of(const std::string& name);
std::string set_threads_of(const std::string& name);

}  // namespace chol::bench
