/* Prints how many nanoseconds pass until a cache line that one processor hands over to another one comes back: one
   measurement a second, one line each.

   handover FIRST SECOND      the numbers of two processors

   A measurement takes less than a millisecond of both processors. As root, it runs with real-time priority, so that it
   is not interrupted; otherwise the median of BURSTS excludes interrupted ones. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BURSTS = 9, ROUNDS = 200 };

static _Alignas(128) atomic_int turn;

static void hand_over(int mine, int theirs) {
    while (atomic_load(&turn) != mine)
        ;
    atomic_store(&turn, theirs);
}

static void *answer(void *nothing) {
    for (int round = 0; round < BURSTS * ROUNDS; round++)
        hand_over(1, 0);
    return nothing;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int ascending(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

/* One measurement; runs on the first processor. */
static double measure(const pthread_attr_t *on_the_second) {
    double took[BURSTS];
    pthread_t second;
    if (pthread_create(&second, on_the_second, answer, NULL))
        exit(EXIT_FAILURE);
    for (int burst = 0; burst < BURSTS; burst++) {
        double began = now();
        for (int round = 0; round < ROUNDS; round++)
            hand_over(0, 1);
        took[burst] = (now() - began) / ROUNDS;
    }
    pthread_join(second, NULL);
    qsort(took, BURSTS, sizeof *took, ascending);
    return took[BURSTS / 2];
}

int main(int count, char **words) {
    cpu_set_t first, second;
    pthread_attr_t on_the_second;
    if (count != 3)
        return EXIT_FAILURE;
    CPU_ZERO(&first);
    CPU_ZERO(&second);
    CPU_SET(atoi(words[1]), &first);
    CPU_SET(atoi(words[2]), &second);
    pthread_attr_init(&on_the_second);
    if (pthread_setaffinity_np(pthread_self(), sizeof first, &first) ||
        pthread_attr_setaffinity_np(&on_the_second, sizeof second, &second))
        return EXIT_FAILURE;
    /* Threads inherit the priority. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
    for (;;) {
        printf("%.0f\n", measure(&on_the_second));
        fflush(stdout);
        sleep(1);
    }
}
