/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for libcuda.so.1 where there is no GPU. Memory of its device is mapped twice: where the
 * program sees it nothing may touch it, and copies go by way of the other place. Copies happen as
 * late as they may: when somebody waits for them, or has asked a few times whether they are over.
 */
#define _GNU_SOURCE
#include "cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    INVALID_CONTEXT = 201,
    NOT_READY = 600,
    FAILED = 719,
    CAPTURE_UNSUPPORTED = 900
};
enum { CAPTURE_RELAXED = 2 };
enum { POINTER_CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_ORDINAL = 9 };

/* An event is asked so often before it is over without anybody waiting. */
#define QUESTIONS 3

typedef struct {
    unsigned long long id;     /* a new one when it was destroyed and another has its place */
} context_t;

/* Each memory belongs to one of these in turns. */
typedef enum {
    OF_PRIMARY,
    OF_POOL,                   /* of no context: its card's primary one is meant */
    OF_PROGRAM,                /* of a context that the program has made */
    NUM_OWNERS
} owner_t;

typedef struct allocation {
    char *address, *alias;
    size_t length;
    owner_t owner;
    struct allocation *next;
} allocation_t;

typedef struct copy {
    char *to;
    const char *from;
    size_t length;
    struct copy *next;
} copy_t;

typedef struct stream {
    const context_t *context;
    unsigned long long id;     /* of that */
    copy_t *first, **end;
    unsigned long begun, over; /* copies */
    int status;
} stream_t;

typedef struct {
    stream_t *stream;
    unsigned long number;      /* of the last copy before it */
    unsigned questions;
    bool is_recorded;
} event_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static allocation_t *allocations;
static context_t primary = {.id = 1}, programs = {.id = 2};
static unsigned long long last_id = 2;
/* The stack of contexts: who only visits pushes one, and pops it. */
static _Thread_local const context_t *stack[8];
static _Thread_local unsigned depth;
/* As if a thread of the program were always capturing a graph: others have to be careful. */
static _Thread_local int capture_mode;
static unsigned long copies, leftovers, allocated, retained;
static long until_failure = -1;
static unsigned record_failures;

static allocation_t *find(const char *address)
{
    allocation_t *allocation = allocations;

    while (NULL != allocation
           && (address < allocation->address || address >= allocation->address + allocation->length)) {
        allocation = allocation->next;
    }
    return allocation;
}

/* Where copies may touch it; NULL: it is no memory of the device, or too short. */
static char *reach(const char *address, size_t length)
{
    allocation_t *allocation = find(address);

    if (NULL == allocation || (size_t) (address - allocation->address) + length > allocation->length) {
        fprintf(stderr, "not ok: %p is no device memory of %zu bytes\n", (const void *) address,
                length);
        abort();
    }
    return allocation->alias + (address - allocation->address);
}

static void must_be_host(const void *address)
{
    if (NULL != find(address)) {
        fprintf(stderr, "not ok: %p is device memory\n", address);
        abort();
    }
}

static void must_be_alive(const stream_t *stream)
{
    if (stream->id != stream->context->id) {
        fprintf(stderr, "not ok: a stream of a context that is no more\n");
        abort();
    }
}

/* Under the lock, as all below. */
static int run_until(stream_t *stream, unsigned long number)
{
    while (stream->over < number) {
        copy_t *copy = stream->first;

        if (0 == until_failure) {
            stream->status = FAILED;
        } else {
            memcpy(copy->to, copy->from, copy->length);
            until_failure -= until_failure > 0;
        }
        stream->over++;
        stream->first = copy->next;
        if (NULL == stream->first) {
            stream->end = &stream->first;
        }
        free(copy);
        leftovers--;
    }
    return stream->status;
}

static int begin(stream_t *stream, char *to, const char *from, size_t length)
{
    copy_t *copy = malloc(sizeof(*copy));

    must_be_alive(stream);
    *copy = (copy_t) {.to = to, .from = from, .length = length};
    *stream->end = copy;
    stream->end = &copy->next;
    stream->begun++;
    copies++;
    leftovers++;
    return 0 == depth ? INVALID_CONTEXT : SUCCESS;
}

#define LOCKED(expression)                \
    int result;                           \
    (void) pthread_mutex_lock(&lock);     \
    result = (expression);                \
    (void) pthread_mutex_unlock(&lock);   \
    return result

/* ---- the driver's functions ---- */

static int allocate(uint64_t *address, size_t length)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE), whole = (length + page - 1) / page * page;
    allocation_t *allocation = malloc(sizeof(*allocation));
    int fd = memfd_create("device", MFD_CLOEXEC);

    if (fd < 0 || 0 != ftruncate(fd, (off_t) whole)) {
        abort();
    }
    *allocation = (allocation_t) {.length = length, .owner = (owner_t) (allocated++ % NUM_OWNERS),
                                  .next = allocations};
    allocation->address = mmap(NULL, whole, PROT_NONE, MAP_SHARED, fd, 0);
    allocation->alias = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void) close(fd);
    allocations = allocation;
    *address = (uint64_t) (uintptr_t) allocation->address;
    return SUCCESS;
}

int cuMemAlloc_v2(uint64_t *address, size_t length)
{
    LOCKED(allocate(address, length));
}

static int release(uint64_t address)
{
    allocation_t **at = &allocations, *allocation;

    while ((*at)->address != (char *) (uintptr_t) address) {
        at = &(*at)->next;
    }
    allocation = *at;
    *at = allocation->next;
    (void) munmap(allocation->address, allocation->length);
    (void) munmap(allocation->alias, allocation->length);
    free(allocation);
    return SUCCESS;
}

int cuMemFree_v2(uint64_t address)
{
    LOCKED(release(address));
}

static int copy_now(char *to, const char *from, size_t length)
{
    memcpy(to, from, length);
    return SUCCESS;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t length)
{
    LOCKED(copy_now(to, reach((char *) (uintptr_t) from, length), length));
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t length)
{
    LOCKED(copy_now(reach((char *) (uintptr_t) to, length), from, length));
}

static void *context_of(const allocation_t *allocation)
{
    if (NULL == allocation || OF_POOL == allocation->owner) {
        return NULL;
    }
    return OF_PRIMARY == allocation->owner ? &primary : &programs;
}

static int attributes(unsigned count, const int *names, void **values, const char *address)
{
    const allocation_t *allocation = find(address);
    bool ours = NULL != allocation;

    for (unsigned i = 0; i < count; i++) {
        switch (names[i]) {
        case POINTER_CONTEXT:
            *(void **) values[i] = context_of(allocation);
            break;
        case MEMORY_TYPE:
            *(unsigned *) values[i] = ours ? 2 : 0;
            break;
        case IS_MANAGED:
            *(unsigned *) values[i] = 0;
            break;
        case DEVICE_ORDINAL:
            *(int *) values[i] = 0;
            break;
        default:
            return INVALID_VALUE;
        }
    }
    return SUCCESS;
}

int cuPointerGetAttributes(unsigned count, const int *names, void **values, uint64_t address)
{
    LOCKED(attributes(count, names, values, (char *) (uintptr_t) address));
}

int cuDeviceGet(int *card, int ordinal)
{
    *card = ordinal;
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **result, int card)
{
    (void) card;
    *result = &primary;
    retained++;
    return SUCCESS;
}

int cuCtxPushCurrent_v2(context_t *pushed)
{
    bool is_one = pushed == &primary || pushed == &programs;

    stack[depth] = is_one ? pushed : NULL;
    depth++;
    return is_one ? SUCCESS : INVALID_CONTEXT;
}

int cuCtxPopCurrent_v2(const context_t **popped)
{
    if (0 == depth) {
        return INVALID_CONTEXT;
    }
    *popped = stack[--depth];
    return SUCCESS;
}

int cuCtxGetId(const context_t *context, unsigned long long *id)
{
    *id = context->id;
    return SUCCESS;
}

int cuThreadExchangeStreamCaptureMode(int *mode)
{
    int before = capture_mode;

    capture_mode = *mode;
    *mode = before;
    return SUCCESS;
}

/* What other threads capture is not meant. */
static int if_relaxed(int result)
{
    return CAPTURE_RELAXED == capture_mode ? result : CAPTURE_UNSUPPORTED;
}

/* Streams that do not wait for the program's default stream read what is not there yet. */
int cuStreamCreate(stream_t **stream, unsigned flags)
{
    if (0 != flags || CAPTURE_RELAXED != capture_mode) {
        return INVALID_VALUE;
    }
    if (0 == depth) {
        return INVALID_CONTEXT;
    }
    *stream = calloc(1, sizeof(**stream));
    (*stream)->end = &(*stream)->first;
    (*stream)->context = stack[depth - 1];
    (*stream)->id = (*stream)->context->id;
    return SUCCESS;
}

int cuStreamQuery(const stream_t *stream)
{
    must_be_alive(stream);
    LOCKED(if_relaxed(stream->begun == stream->over ? SUCCESS : NOT_READY));
}

int cuStreamSynchronize(stream_t *stream)
{
    must_be_alive(stream);
    LOCKED(if_relaxed(run_until(stream, stream->begun)));
}

int cuEventCreate(event_t **event, unsigned flags)
{
    (void) flags;
    *event = calloc(1, sizeof(**event));
    (void) __atomic_add_fetch(&leftovers, 1, __ATOMIC_RELAXED);
    return 0 == depth ? INVALID_CONTEXT : SUCCESS;
}

static int record(event_t *event, stream_t *stream)
{
    event->stream = stream;
    event->number = stream->begun;
    if (record_failures > 0) {
        record_failures--;
        return FAILED;
    }
    event->is_recorded = true;
    return SUCCESS;
}

int cuEventRecord(event_t *event, stream_t *stream)
{
    LOCKED(record(event, stream));
}

static int query(event_t *event)
{
    if (event->stream->over < event->number && ++event->questions < QUESTIONS) {
        return NOT_READY;
    }
    return run_until(event->stream, event->number);
}

int cuEventQuery(event_t *event)
{
    LOCKED(CAPTURE_RELAXED == capture_mode ? query(event) : CAPTURE_UNSUPPORTED);
}

int cuEventSynchronize(event_t *event)
{
    LOCKED(CAPTURE_RELAXED == capture_mode ? run_until(event->stream, event->number)
                                           : CAPTURE_UNSUPPORTED);
}

/* Who destroys one without having waited does not know when the copy before it is over. */
int cuEventDestroy_v2(event_t *event)
{
    if (!event->is_recorded && NULL != event->stream && event->stream->over < event->number) {
        fprintf(stderr, "not ok: nobody waits for a copy\n");
        abort();
    }
    (void) __atomic_sub_fetch(&leftovers, 1, __ATOMIC_RELAXED);
    free(event);
    return SUCCESS;
}

static int to_host(void *to, const char *from, size_t length, stream_t *stream)
{
    must_be_host(to);
    return begin(stream, to, reach(from, length), length);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t length, stream_t *stream)
{
    LOCKED(to_host(to, (char *) (uintptr_t) from, length, stream));
}

static int to_device(char *to, const void *from, size_t length, stream_t *stream)
{
    must_be_host(from);
    return begin(stream, reach(to, length), from, length);
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t length, stream_t *stream)
{
    LOCKED(to_device((char *) (uintptr_t) to, from, length, stream));
}

static void must_be_relaxed(void)
{
    if (CAPTURE_RELAXED != capture_mode) {
        fprintf(stderr, "not ok: it spoils what another thread captures\n");
        abort();
    }
}

int cuMemHostRegister_v2(void *memory, size_t length, unsigned flags)
{
    (void) flags;
    must_be_relaxed();
    return NULL != memory && 0 != length && 0 != depth ? SUCCESS : INVALID_VALUE;
}

int cuMemHostUnregister(void *memory)
{
    must_be_relaxed();
    return NULL != memory ? SUCCESS : INVALID_VALUE;
}

int cuGetErrorString(int error, const char **text)
{
    *text = FAILED == error ? "unspecified launch failure" : "something else";
    return SUCCESS;
}

/* ---- for tests ---- */

unsigned long standin_copies(void)
{
    return __atomic_load_n(&copies, __ATOMIC_RELAXED);
}

unsigned long standin_leftovers(void)
{
    return __atomic_load_n(&leftovers, __ATOMIC_RELAXED);
}

unsigned long standin_retained(void)
{
    return retained;
}

static int set_failure(long count)
{
    until_failure = count;
    return SUCCESS;
}

void standin_fail_after(long count)
{
    (void) pthread_mutex_lock(&lock);
    (void) set_failure(count);
    (void) pthread_mutex_unlock(&lock);
}

void standin_fail_records(unsigned count)
{
    (void) pthread_mutex_lock(&lock);
    record_failures = count;
    (void) pthread_mutex_unlock(&lock);
}

/* The program destroys its context, of which it has no memory any more, and makes another one. */
void standin_renew_context(void)
{
    (void) pthread_mutex_lock(&lock);
    programs.id = ++last_id;
    (void) pthread_mutex_unlock(&lock);
}
