/* Loaded before a server, notes each turn of its main thread, from one wait for events to the next, that
 * took longer than 0.2 ms: when it ended in seconds since 1970, and microseconds by the clock and of the
 * processor, the kernel's for it among them. What the processor did for others is not in the latter.
 *
 *     cc -O2 -shared -fPIC -o turns.so turns.c
 *     TURNS=file LD_PRELOAD=./turns.so redis-server
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define LEAST_US 200.0

static double microseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
    static int (*wait)(int, struct epoll_event *, int, int);
    static FILE *file;
    static double clock, processor;
    int ready;
    if (!wait) {
        wait = (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
        file = fopen(getenv("TURNS"), "a");
    }
    if (gettid() != getpid()) {
        return wait(epoll, events, most, timeout);
    }
    if (clock > 0) {
        double took = microseconds(CLOCK_MONOTONIC) - clock;
        if (took > LEAST_US) {
            double used = microseconds(CLOCK_THREAD_CPUTIME_ID) - processor;
            fprintf(file, "%.6f %.0f %.0f\n", microseconds(CLOCK_REALTIME) / 1e6, took, used);
            fflush(file);
        }
    }
    ready = wait(epoll, events, most, timeout);
    clock = microseconds(CLOCK_MONOTONIC);
    processor = microseconds(CLOCK_THREAD_CPUTIME_ID);
    return ready;
}
