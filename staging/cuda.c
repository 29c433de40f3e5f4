/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA driver's interface, of which only what is called here is declared: programs bring the
 * library, and nothing is needed to build this. Names and numbers are those of the CUDA Driver API
 * reference.
 *
 * A device is a context of the driver: that of the memory, or its card's primary one. Its streams
 * wait for what the program does on its default stream, as a copy that looks synchronous may still
 * be under way when it returns; for other streams the program has waited before it calls MPI.
 */
#include "staging/cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int result_t;
typedef uint64_t address_t;
typedef void *context_t, *stream_t, *event_t;

enum { SUCCESS = 0, NOT_INITIALIZED = 3, NOT_READY = 600 };

/* CU_POINTER_ATTRIBUTE_… */
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_ORDINAL = 9, NUM_ATTRIBUTES = 4 };

enum {
    MEMORYTYPE_DEVICE = 2,
    STREAM_DEFAULT = 0,
    STREAM_CAPTURE_RELAXED = 2,
    EVENT_DISABLE_TIMING = 2,
    HOST_REGISTER_PORTABLE = 1,
};

/* Function of the driver, its name there, its arguments. */
#define FOREACH_FUNCTION(X)                                                                     \
    X(pointer_attributes, "cuPointerGetAttributes", (unsigned, const int *, void **, address_t)) \
    X(device, "cuDeviceGet", (int *, int))                                                      \
    X(primary_context, "cuDevicePrimaryCtxRetain", (context_t *, int))                          \
    X(push, "cuCtxPushCurrent_v2", (context_t))                                                 \
    X(pop, "cuCtxPopCurrent_v2", (context_t *))                                                 \
    X(stream_create, "cuStreamCreate", (stream_t *, unsigned))                                  \
    X(stream_query, "cuStreamQuery", (stream_t))                                                \
    X(stream_synchronize, "cuStreamSynchronize", (stream_t))                                    \
    X(event_create, "cuEventCreate", (event_t *, unsigned))                                     \
    X(event_record, "cuEventRecord", (event_t, stream_t))                                       \
    X(event_query, "cuEventQuery", (event_t))                                                   \
    X(event_synchronize, "cuEventSynchronize", (event_t))                                       \
    X(event_destroy, "cuEventDestroy_v2", (event_t))                                            \
    X(to_host, "cuMemcpyDtoHAsync_v2", (void *, address_t, size_t, stream_t))                   \
    X(to_device, "cuMemcpyHtoDAsync_v2", (address_t, const void *, size_t, stream_t))           \
    X(host_register, "cuMemHostRegister_v2", (void *, size_t, unsigned))                        \
    X(host_unregister, "cuMemHostUnregister", (void *))                                         \
    X(error_string, "cuGetErrorString", (result_t, const char **))

static struct {
#define X(function, name, arguments) result_t (*function) arguments;
    FOREACH_FUNCTION(X)
#undef X
    result_t (*exchange_capture)(int *); /* from CUDA 10.1 on, else NULL */
    result_t (*context_id)(context_t, unsigned long long *); /* from CUDA 12.0 on */
} driver;

typedef struct cuda {
    oc_device_t super;
    context_t context;
    unsigned long long id;               /* of the context; 0: the driver cannot tell */
    stream_t streams[OC_NUM_DIRECTIONS];
    int ordinal;                         /* of the card, if the context is its primary one; else -1 */
    char reason[160];
    struct cuda *next;
} cuda_t;

static atomic_ullong looked;             /* the time when the driver was looked for, … */
static atomic_ullong libraries;          /* … how many libraries had been loaded, … */
static atomic_bool is_loaded;            /* … and that it was among them */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and of reasons */
static cuda_t *devices;

/* ---- the driver ---- */

static int read_count(struct dl_phdr_info *info, size_t size, void *count)
{
    (void) size;
    *(unsigned long long *) count = info->dlpi_adds;
    return 1; /* of all libraries alike */
}

static bool get_functions(void *library)
{
#define X(function, name, arguments)                                     \
    *(void **) &driver.function = dlsym(library, name);                  \
    if (NULL == driver.function) {                                       \
        return false;                                                    \
    }
    FOREACH_FUNCTION(X)
#undef X
    *(void **) &driver.exchange_capture = dlsym(library, "cuThreadExchangeStreamCaptureMode");
    *(void **) &driver.context_id = dlsym(library, "cuCtxGetId");
    return true;
}

/* Under the lock. */
static void look_for_driver(void)
{
    void *library;

    if (atomic_load(&is_loaded)) {
        return;
    }
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (NULL == library) {
        return;
    }
    atomic_store(&is_loaded, get_functions(library));
    if (!atomic_load(&is_loaded)) {
        (void) dlclose(library);
    }
}

/* Of a clock with ticks of at most 10 ms, which is read in a few instructions. */
static unsigned long long tick(void)
{
    struct timespec time;

    (void) clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (unsigned long long) time.tv_sec * 1000000000u + (unsigned long long) time.tv_nsec;
}

/*
 * The CUDA runtime loads the driver when it is used first. From then until there is memory of a
 * device, the driver has to be initialised and a context made, which takes some ten milliseconds at
 * least: so once a tick is often enough. Then only the number of libraries is looked at, unless it
 * has changed.
 */
bool oc_cuda_is_used(void)
{
    unsigned long long count = 0, now;

    if (atomic_load_explicit(&is_loaded, memory_order_acquire)) {
        return true;
    }
    now = tick();
    if (now == atomic_load_explicit(&looked, memory_order_acquire)) {
        return false;
    }
    (void) dl_iterate_phdr(read_count, &count);
    if (count == atomic_load_explicit(&libraries, memory_order_acquire)) {
        atomic_store_explicit(&looked, now, memory_order_release);
        return false;
    }
    (void) pthread_mutex_lock(&lock);
    look_for_driver();
    (void) pthread_mutex_unlock(&lock);
    /* another thread that reads this need not look: it was done */
    atomic_store_explicit(&libraries, count, memory_order_release);
    atomic_store_explicit(&looked, now, memory_order_release);
    return atomic_load(&is_loaded);
}

/* ---- copies ---- */

static oc_status_t cuda_fail(cuda_t *cuda, const char *what, result_t result)
{
    const char *text = NULL;

    if (SUCCESS != driver.error_string(result, &text) || NULL == text) {
        text = "unknown error";
    }
    (void) pthread_mutex_lock(&lock);
    snprintf(cuda->reason, sizeof(cuda->reason), "CUDA cannot %s: error %d, %s", what, result,
             text);
    (void) pthread_mutex_unlock(&lock);
    return OC_ERR_SYSTEM;
}

/*
 * While any thread of the program captures a graph, questions about streams and events are errors,
 * which spoil the capture, unless this thread says that it does not mean those. Gives what to say
 * afterwards.
 */
static int exchange_capture(int mode)
{
    if (NULL != driver.exchange_capture) {
        (void) driver.exchange_capture(&mode);
    }
    return mode;
}

static result_t start_copy(cuda_t *cuda, oc_direction_t direction, void *to, const void *from,
                           size_t length, event_t *event)
{
    stream_t stream = cuda->streams[direction];
    result_t result;

    if (NULL == stream) {
        return NOT_INITIALIZED; /* it could not be made: without one, the copy would be the program's */
    }
    result = driver.event_create(event, EVENT_DISABLE_TIMING);
    if (SUCCESS != result) {
        return result;
    }
    result = OC_FROM_DEVICE == direction
                 ? driver.to_host(to, (address_t) (uintptr_t) from, length, stream)
                 : driver.to_device((address_t) (uintptr_t) to, from, length, stream);
    if (SUCCESS == result) {
        result = driver.event_record(*event, stream);
        if (SUCCESS != result) {
            (void) driver.stream_synchronize(stream); /* or it would be under way, and nobody know */
        }
    }
    if (SUCCESS != result) {
        (void) driver.event_destroy(*event);
    }
    return result;
}

static oc_status_t cuda_begin(oc_device_t *device, oc_direction_t direction, void *to,
                              const void *from, size_t length, void **copy)
{
    cuda_t *cuda = (cuda_t *) device;
    result_t result = driver.push(cuda->context);
    context_t previous;
    int mode;

    if (SUCCESS != result) {
        return cuda_fail(cuda, "use the context of the memory", result);
    }
    mode = exchange_capture(STREAM_CAPTURE_RELAXED);
    result = start_copy(cuda, direction, to, from, length, copy);
    (void) exchange_capture(mode);
    (void) driver.pop(&previous);
    return SUCCESS == result ? OC_OK : cuda_fail(cuda, "copy", result);
}

static bool cuda_is_over(oc_device_t *device, void *copy)
{
    int mode = exchange_capture(STREAM_CAPTURE_RELAXED);
    result_t result = driver.event_query(copy);

    (void) device;
    (void) exchange_capture(mode);
    return NOT_READY != result;
}

static oc_status_t cuda_end(oc_device_t *device, void *copy)
{
    int mode = exchange_capture(STREAM_CAPTURE_RELAXED);
    result_t result = driver.event_synchronize(copy);

    (void) driver.event_destroy(copy);
    (void) exchange_capture(mode);
    return SUCCESS == result ? OC_OK : cuda_fail((cuda_t *) device, "copy", result);
}

/* What is not pinned is copied all the same. */
static void cuda_pin(oc_device_t *device, void *memory, size_t length)
{
    context_t previous;
    int mode;

    if (SUCCESS == driver.push(((cuda_t *) device)->context)) {
        mode = exchange_capture(STREAM_CAPTURE_RELAXED);
        (void) driver.host_register(memory, length, HOST_REGISTER_PORTABLE);
        (void) exchange_capture(mode);
        (void) driver.pop(&previous);
    }
}

static void cuda_unpin(oc_device_t *device, void *memory)
{
    context_t previous;
    int mode;

    if (SUCCESS == driver.push(((cuda_t *) device)->context)) {
        mode = exchange_capture(STREAM_CAPTURE_RELAXED);
        (void) driver.host_unregister(memory);
        (void) exchange_capture(mode);
        (void) driver.pop(&previous);
    }
}

static const char *cuda_reason(const oc_device_t *device)
{
    return ((const cuda_t *) device)->reason;
}

static const oc_device_ops_t ops = {
    .begin = cuda_begin,
    .is_over = cuda_is_over,
    .end = cuda_end,
    .pin = cuda_pin,
    .unpin = cuda_unpin,
    .reason = cuda_reason,
};

/* ---- devices ---- */

/* Copies of a direction without one fail. */
static void open_streams(cuda_t *cuda)
{
    context_t previous;
    int mode;

    if (SUCCESS != driver.push(cuda->context)) {
        return;
    }
    mode = exchange_capture(STREAM_CAPTURE_RELAXED);
    for (unsigned i = 0; i < OC_NUM_DIRECTIONS; i++) {
        if (SUCCESS != driver.stream_create(&cuda->streams[i], STREAM_DEFAULT)) {
            cuda->streams[i] = NULL;
        }
    }
    (void) exchange_capture(mode);
    (void) driver.pop(&previous);
}

static unsigned long long id_of(context_t context)
{
    unsigned long long id = 0;

    return NULL != driver.context_id && SUCCESS == driver.context_id(context, &id) ? id : 0;
}

/* Drivers without ids may not notice that it is gone. */
static bool cuda_is_alive(const cuda_t *cuda)
{
    result_t result;
    int mode;

    if (NULL == cuda->streams[OC_FROM_DEVICE]) {
        return false;
    }
    mode = exchange_capture(STREAM_CAPTURE_RELAXED);
    result = driver.stream_query(cuda->streams[OC_FROM_DEVICE]);
    (void) exchange_capture(mode);
    return SUCCESS == result || NOT_READY == result;
}

/*
 * Its copies fail, as those of one without streams do: the host must not touch its memory either.
 */
static cuda_t out_of_memory = {.super.ops = &ops};

static cuda_t *cuda_device_of(context_t context, int ordinal)
{
    unsigned long long id = id_of(context);
    cuda_t *cuda = devices;

    while (NULL != cuda && context != cuda->context) {
        cuda = cuda->next;
    }
    if (NULL != cuda && ordinal >= 0) {
        cuda->ordinal = ordinal;
    }
    /* a program may destroy a context, and the next one may look like it */
    if (NULL != cuda && id == cuda->id && cuda_is_alive(cuda)) {
        return cuda;
    }
    if (NULL == cuda) {
        cuda = calloc(1, sizeof(*cuda));
        if (NULL == cuda) {
            return &out_of_memory;
        }
        *cuda = (cuda_t) {.super.ops = &ops, .context = context, .ordinal = ordinal,
                          .next = devices};
        devices = cuda;
    }
    cuda->id = id;
    open_streams(cuda);
    return cuda;
}

/* Retained once for each card: programs count on being the last to release theirs. */
static context_t primary_context_of(int ordinal)
{
    context_t context = NULL;
    const cuda_t *cuda;
    int card;

    for (cuda = devices; NULL != cuda; cuda = cuda->next) {
        if (ordinal == cuda->ordinal && cuda_is_alive(cuda)) {
            return cuda->context;
        }
    }
    if (SUCCESS != driver.device(&card, ordinal)
        || SUCCESS != driver.primary_context(&context, card)) {
        return NULL;
    }
    return context;
}

/* NULL: the host may touch the memory. card: whose primary context it is, or -1. */
static context_t context_of(const void *address, int *card)
{
    static const int attributes[NUM_ATTRIBUTES] = {CONTEXT, MEMORY_TYPE, IS_MANAGED,
                                                   DEVICE_ORDINAL};
    context_t context = NULL;
    unsigned type = 0, managed = 0;
    int ordinal = 0;
    void *values[NUM_ATTRIBUTES] = {&context, &type, &managed, &ordinal};

    if (SUCCESS != driver.pointer_attributes(NUM_ATTRIBUTES, attributes, values,
                                             (address_t) (uintptr_t) address)
        || MEMORYTYPE_DEVICE != type || 0 != managed) {
        return NULL;
    }
    /* memory of pools and of virtual addresses belongs to no context */
    *card = NULL != context ? -1 : ordinal;
    return NULL != context ? context : primary_context_of(ordinal);
}

oc_device_t *oc_cuda_find(const void *address)
{
    cuda_t *cuda = NULL;
    context_t context;
    int card;

    if (!oc_cuda_is_used()) {
        return NULL;
    }
    (void) pthread_mutex_lock(&lock);
    context = context_of(address, &card);
    if (NULL != context) {
        cuda = cuda_device_of(context, card);
    }
    (void) pthread_mutex_unlock(&lock);
    return NULL == cuda ? NULL : &cuda->super;
}
