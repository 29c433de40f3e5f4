/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns virtual time, and whose turn it is. */
#include "tests/simulation/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utlist.h>

#include "base/clock.h"
#include "tests/multicast/memory.h"
#include "tests/random.h"

#define STACK (512u << 10)

/* A look at the clock takes as long. */
#define LOOK 20

/* It begins where 0, which means never in many places, is long ago. */
#define BEGINNING (1000 * OC_SECOND)

typedef enum {
    FIBER_PLANNED,   /* an event will go on with it */
    FIBER_WAITS,
    FIBER_RUNS,
    FIBER_OVER,
} fiber_state_t;

/* A fiber begins by its context, and goes on by a jump, which costs no system call. */
struct fiber {
    ucontext_t context;
    jmp_buf place;
    bool entered;
    process_t *process;
    void *(*run)(void *arg);
    void *arg, *result;
    fiber_state_t state;
    uint64_t turn;               /* events of earlier ones mean nothing */
    bool held;                   /* its turn came while the process was stopped */
    bool (*ready)(void *arg);
    void *what;
    fiber_t *next;
};

static struct {
    events_t *events;
    oc_random_t random;
    uint64_t seed, ahead, digest;
    host_t hosts[WORLD_HOSTS];
    process_t *processes;
    fiber_t *current;
    jmp_buf scheduler;
    double preemption;           /* of a lock */
    bool traces;
} world;

void world_begin(uint64_t seed)
{
    world.seed = seed;
    world.random.state = seed * 0x9e3779b97f4a7c15ull;
    world.events = events_new(BEGINNING);
    world.traces = NULL != getenv("TRACE");
    world.preemption = world_chance(0.3) ? 0.05 : 0.002;
}

uint64_t world_now(void)
{
    return events_now(world.events);
}

uint64_t world_look(void)
{
    world.ahead += LOOK;
    return world_now() + world.ahead;
}

uint64_t world_random(uint64_t limit)
{
    return oc_random_below(&world.random, limit);
}

bool world_chance(double probability)
{
    return oc_random_chance(&world.random, probability);
}

host_t *world_host(unsigned number)
{
    return &world.hosts[number];
}

void world_plan(uint64_t delay, const event_kind_t *kind, void *owner, void *thing)
{
    events_plan(world.events, (event_t) {.at = world_now() + delay, .kind = kind, .owner = owner, .thing = thing});
}

bool world_run(bool (*over)(void *arg), void *arg, uint64_t until)
{
    while (!over(arg)) {
        if (!events_step(world.events, until)) {
            return false;
        }
    }
    return true;
}

void world_fail(const char *format, ...)
{
    va_list args;

    fprintf(stderr, "schedule %llu, %.6f s: ", (unsigned long long) world.seed,
            (double) (world_now() - BEGINNING) / (double) OC_SECOND);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

void world_trace(const char *format, ...)
{
    va_list args;

    if (!world.traces) {
        return;
    }
    fprintf(stderr, "%.6f %s: ", (double) (world_now() - BEGINNING) / (double) OC_SECOND,
            NULL != world.current ? world.current->process->name : "-");
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

uint64_t world_digest(void)
{
    return world.digest ^ events_past(world.events) ^ world_now() << 20;
}

void world_mix(uint64_t number)
{
    world.digest = (world.digest ^ number) * 0x100000001b3ull;
}

/* ---- turns ---- */

static void fiber_go_on(fiber_t *fiber)
{
    fiber->turn++;
    if (fiber->process->dead) {
        return;
    }
    if (fiber->process->stopped) {
        fiber->held = true;
        return;
    }
    fiber->state = FIBER_RUNS;
    world.current = fiber;
    world.ahead = 0;
    if (0 == _setjmp(world.scheduler)) {
        if (fiber->entered) {
            _longjmp(fiber->place, 1);
        }
        fiber->entered = true;
        setcontext(&fiber->context);
    }
    world.current = NULL;
}

static void on_turn(void *owner, const event_t *event)
{
    fiber_t *fiber = owner;

    if (fiber->turn == (uintptr_t) event->thing && FIBER_OVER != fiber->state && !fiber->held) {
        fiber_go_on(fiber);
    }
}

static const event_kind_t turn = {.happen = on_turn};

static void fiber_plan(fiber_t *fiber, uint64_t delay)
{
    world_plan(delay, &turn, fiber, (void *) (uintptr_t) fiber->turn);
}

/* To the scheduler and back. */
static void fiber_give_way(fiber_t *fiber)
{
    if (0 == _setjmp(fiber->place)) {
        _longjmp(world.scheduler, 1);
    }
}

void fiber_pause(uint64_t ns)
{
    fiber_t *fiber = world.current;

    if (NULL == fiber) {
        return;
    }
    fiber->state = FIBER_PLANNED;
    fiber_plan(fiber, ns + world.ahead);
    fiber_give_way(fiber);
}

void fiber_preempt(void)
{
    if (NULL != world.current && world_chance(world.preemption)) {
        fiber_pause(world_chance(0.1) ? world_random(2 * OC_MILLISECOND) : world_random(5000));
    }
}

bool fiber_wait(bool (*ready)(void *arg), void *arg, uint64_t until)
{
    fiber_t *fiber = world.current;

    if (NULL == fiber) {
        return ready(arg);
    }
    while (!ready(arg)) {
        if (world_look() >= until) {
            return false;
        }
        fiber->state = FIBER_WAITS;
        fiber->ready = ready;
        fiber->what = arg;
        if (UINT64_MAX != until) {
            fiber_plan(fiber, until - world_now());
        }
        fiber_give_way(fiber);
    }
    return true;
}

void process_look(process_t *process)
{
    fiber_t *fiber;

    LL_FOREACH (process->fibers, fiber) {
        if (!process->dead && FIBER_WAITS == fiber->state && !fiber->held && fiber->ready(fiber->what)) {
            /* a timeout of it has no turn any more */
            fiber->turn++;
            fiber->state = FIBER_PLANNED;
            fiber_plan(fiber, 500 + world_random(world_chance(0.02) ? 3 * OC_MILLISECOND : 10000));
        }
    }
}

/* ---- fibers and processes ---- */

static void fiber_enter(void)
{
    fiber_t *fiber = world.current;

    fiber->result = fiber->run(fiber->arg);
    fiber->state = FIBER_OVER;
    process_look(fiber->process);
    fiber_give_way(fiber);
}

fiber_t *fiber_start(process_t *process, void *(*run)(void *arg), void *arg)
{
    fiber_t *fiber = memory_new(sizeof(*fiber));
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (MAP_FAILED == stack || 0 != getcontext(&fiber->context)) {
        world_fail("there is no memory for a stack");
    }
    fiber->process = process;
    fiber->run = run;
    fiber->arg = arg;
    fiber->context.uc_stack.ss_sp = stack;
    fiber->context.uc_stack.ss_size = STACK;
    makecontext(&fiber->context, fiber_enter, 0);
    LL_APPEND(process->fibers, fiber);
    fiber_plan(fiber, 1000 + world_random(20000));
    return fiber;
}

static bool is_over(void *arg)
{
    return FIBER_OVER == ((fiber_t *) arg)->state;
}

void *fiber_join(fiber_t *fiber)
{
    (void) fiber_wait(is_over, fiber, UINT64_MAX);
    return fiber->result;
}

process_t *process_new(unsigned host, const char *name)
{
    process_t *process = memory_new(sizeof(*process));

    process->host = host;
    snprintf(process->name, sizeof(process->name), "%s", name);
    LL_PREPEND(world.processes, process);
    return process;
}

process_t *process_first(void)
{
    return world.processes;
}

process_t *process_self(void)
{
    return NULL != world.current ? world.current->process : NULL;
}

void process_end(process_t *process)
{
    process->dead = true;
}

void process_stop(process_t *process)
{
    process->stopped = true;
}

void process_continue(process_t *process)
{
    fiber_t *fiber;

    process->stopped = false;
    LL_FOREACH (process->fibers, fiber) {
        if (fiber->held) {
            fiber->held = false;
            fiber_plan(fiber, world_random(20000));
        }
    }
    process_look(process);
}
