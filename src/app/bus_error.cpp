#include "app/bus_error.h"

#include <csignal>
#include <cstring>

#include <unistd.h>

#include "base/mapped_files.h"

namespace limpid {
namespace {

void say(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;  // nobody listens: nothing left to do
}

// Nothing here but what a handler may call.
void on_bus_error(int, siginfo_t* info, void*) {
  const char* const path = mapped_file_at(info->si_addr);
  if (path == nullptr) {  // not one of our files: the crash that it is
    ::signal(SIGBUS, SIG_DFL);
    ::raise(SIGBUS);
    return;
  }
  say("limpid: [file] ");
  say(path);
  say(": became shorter, or unreadable, while it was in use: put the whole file back and start again\n");
  ::_exit(1);
}

}  // namespace

void report_bus_errors() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace limpid
