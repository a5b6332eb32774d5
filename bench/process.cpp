#include "process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace chol::bench {
namespace {

std::string beside_this_program(const std::string& program) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
}

[[noreturn]] void become(const Contestant& contestant, const std::string& path, int socket,
                         int input) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const auto& [name, value] : contestant.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> words = {path, contestant.name, std::to_string(socket),
                                    std::to_string(input)};
  words.insert(words.end(), contestant.libraries.begin(), contestant.libraries.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  std::perror(path.c_str());
  _exit(127);
}

}  // namespace

Process::Process(const Contestant& contestant, int input) : contestant_(contestant) {
  const std::string path = beside_this_program(contestant.program);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  pid_ = fork();
  if (pid_ == 0) {
    fcntl(ends[1], F_SETFD, 0);
    become(contestant_, path, ends[1], input);
  }
  close(ends[1]);
  socket_ = ends[0];
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (socket_ >= 0) close(socket_);
}

Reply Process::lost() {
  Reply reply;
  std::snprintf(reply.text, sizeof reply.text, "its process ended");
  return reply;
}

Reply Process::ask(const Request& request) {
  if (pid_ <= 0) return lost();
  kill(pid_, SIGCONT);
  Reply reply;
  if (send(socket_, &request, sizeof request, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof request))
    return lost();
  if (recv(socket_, &reply, sizeof reply, MSG_WAITALL) != static_cast<ssize_t>(sizeof reply))
    return lost();
  kill(pid_, SIGSTOP);
  int state = 0;
  if (waitpid(pid_, &state, WUNTRACED) == pid_ && !WIFSTOPPED(state)) pid_ = -1;
  return reply;
}

}  // namespace chol::bench
