// A program whose first act is to say when it runs: wall clock nanoseconds on stdout.
//   stamp                 then waits to be told to end
//   stamp MILLIS [CODE]   ends after that time, with a second stamp as its last act
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

namespace {

void Stamp() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  std::printf("%lld%09ld\n", static_cast<long long>(now.tv_sec), now.tv_nsec);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Stamp();
  // PID 1 of a namespace gets no signal that it does not ask for.
  signal(SIGTERM, [](int) { _exit(0); });
  if (argc < 2) {
    for (;;) pause();
  }
  usleep(static_cast<useconds_t>(atoi(argv[1])) * 1000);
  Stamp();
  return argc > 2 ? atoi(argv[2]) : 0;
}
