// The part of the OpenMP runtime that generated kernels use, on plain POSIX threads. ThreadSanitizer
// knows those; the compiler's own runtime it would take for a program without synchronisation.
#include <pthread.h>

#pragma GCC visibility push(hidden)

struct Team {
  void (*work)(void *);
  void *data;
  int size;
  pthread_barrier_t barrier;
};

struct Member {
  Team *team;
  int number;
  pthread_t thread;
};

static thread_local Member *here;

static void *member_main(void *argument) {
  here = (Member *)argument;
  here->team->work(here->team->data);
  return nullptr;
}

extern "C" {

int omp_get_thread_num() { return here ? here->number : 0; }

int omp_get_num_threads() { return here ? here->team->size : 1; }

// GCC's `#pragma omp parallel`: size 0 asks for a default, 1 for the caller alone.
void GOMP_parallel(void (*work)(void *), void *data, unsigned size, unsigned) {
  enum { most = 64 };
  Member members[most], *outer = here;
  Team team{work, data, size == 0 ? 2 : size > most ? most : (int)size, {}};
  pthread_barrier_init(&team.barrier, nullptr, team.size);
  for (int i = 0; i < team.size; ++i) members[i] = Member{&team, i, {}};
  for (int i = 1; i < team.size; ++i)
    pthread_create(&members[i].thread, nullptr, member_main, &members[i]);
  member_main(&members[0]);
  here = outer;
  for (int i = 1; i < team.size; ++i) pthread_join(members[i].thread, nullptr);
  pthread_barrier_destroy(&team.barrier);
}

void GOMP_barrier() {
  if (here) pthread_barrier_wait(&here->team->barrier);
}

}

#pragma GCC visibility pop
