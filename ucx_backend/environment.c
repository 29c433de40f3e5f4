/* SPDX-License-Identifier: BSD-3-Clause */
/* A filtered copy of the environment's pointers takes its place for a while. */
#include "ucx_backend/environment.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **original;
static char **filtered;

void oc_environment_begin(void)
{
    size_t count = 0, kept = 0;

    pthread_mutex_lock(&lock);
    while (NULL != environ && NULL != environ[count]) {
        count++;
    }
    original = environ;
    filtered = calloc(count + 1, sizeof(*filtered));
    if (NULL == filtered) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (0 != strncmp(original[i], "UCX_", 4)) {
            filtered[kept++] = original[i];
        }
    }
    environ = filtered;
}

/* If somebody replaced the array meanwhile (setenv does), theirs was made from the filtered one. */
void oc_environment_end(void)
{
    environ = original;
    free(filtered);
    filtered = NULL;
    pthread_mutex_unlock(&lock);
}
