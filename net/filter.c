/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A balanced tree of comparisons over the sorted addresses, with short chains for leaves: about
 * 1.2 instructions for an IPv4 address, of which a packet meets a dozen. Of IPv6 addresses it
 * looks at 32 bits after the other, with a tree for each word that differs.
 *
 * Programs are written from their end to their beginning: all targets of a jump are known then.
 * Conditional jumps reach 255 instructions, so those that have farther to go lead to an
 * unconditional one behind them.
 */
#include "net/filter.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WORDS 4
#define REACH 255
#define NEAR  240               /* whoever goes there may need some room for jumps on his way */
#define CHAIN 8                 /* comparisons in a leaf of a tree */

#define SOURCE_V4 12            /* where the source address is in the header … */
#define SOURCE_V6 8
#define EVERYTHING 0xffffffffu  /* … and how much of a packet is kept */

typedef struct {
    struct sock_filter *code;
    size_t first;               /* of what is written so far */
    size_t accept, reject;      /* the last ones of each */
    bool has_accept, has_reject;
    bool full;
} writer_t;

/* A run of prefixes with the same value in one word, or a prefix that ends in that word. */
typedef struct {
    uint32_t low, high;
    size_t begin, end;          /* of the prefixes */
} run_t;

static uint32_t word_of(const oc_prefix_t *prefix, unsigned word)
{
    uint32_t value;

    memcpy(&value, prefix->address.s6_addr + 4 * word, sizeof(value));
    return ntohl(value);
}

static size_t filter_put(writer_t *w, uint16_t code, size_t jt, size_t jf, uint32_t k)
{
    if (0 == w->first) {
        w->full = true;
        return 0;
    }
    w->code[--w->first] =
        (struct sock_filter) {.code = code, .jt = (uint8_t) jt, .jf = (uint8_t) jf, .k = k};
    return w->first;
}

static size_t put_return(writer_t *w, uint32_t bytes, size_t *last, bool *has)
{
    if (!*has || *last - w->first > NEAR) {
        *last = filter_put(w, BPF_RET | BPF_K, 0, 0, bytes);
        *has = true;
    }
    return *last;
}

static size_t accept_near(writer_t *w)
{
    return put_return(w, EVERYTHING, &w->accept, &w->has_accept);
}

static size_t reject_near(writer_t *w)
{
    return put_return(w, 0, &w->reject, &w->has_reject);
}

/* The target itself if a jump reaches it, also after another one was written; or a jump to it. */
static size_t reachable(writer_t *w, size_t target)
{
    return target - w->first + 1 <= REACH
               ? target
               : filter_put(w, BPF_JMP | BPF_JA, 0, 0, (uint32_t) (target - w->first));
}

static size_t put_branch(writer_t *w, uint16_t comparison, uint32_t k, size_t yes, size_t no)
{
    yes = reachable(w, yes);
    no = reachable(w, no);
    return filter_put(w, BPF_JMP | BPF_K | comparison, yes - w->first, no - w->first, k);
}

static size_t put_words(writer_t *w, const oc_host_set_t *set, size_t begin, size_t end,
                        unsigned word, unsigned source);

/* The run that begins with this prefix. */
static run_t run_at(const oc_host_set_t *set, size_t begin, size_t end, unsigned word)
{
    const oc_prefix_t *prefix = &set->prefixes[begin];
    unsigned bits = prefix->bits - 32 * word;
    run_t run = {.low = word_of(prefix, word), .begin = begin, .end = begin + 1};

    run.high = bits < 32 ? run.low | UINT32_MAX >> bits : run.low;
    while (run.end < end && word_of(&set->prefixes[run.end], word) <= run.high) {
        run.end++;
    }
    return run;
}

/* Where a packet of a run goes: to what compares the next word, if its prefixes have more. */
static size_t put_rest(writer_t *w, const oc_host_set_t *set, const run_t *run, unsigned word,
                       unsigned source)
{
    return set->prefixes[run->begin].bits <= 32 * (word + 1)
               ? accept_near(w)
               : put_words(w, set, run->begin, run->end, word + 1, source);
}

/* Ascending: who is not above the end of a run is in it, or in none. */
static size_t put_chain(writer_t *w, const oc_host_set_t *set, const run_t *runs, size_t count,
                        unsigned word, unsigned source)
{
    size_t rests[CHAIN], next;

    for (size_t i = 0; i < count; i++) {
        rests[i] = put_rest(w, set, &runs[i], word, source);
    }
    next = reject_near(w);
    for (size_t i = count; i-- > 0;) {
        if (runs[i].low == runs[i].high) {
            next = put_branch(w, BPF_JEQ, runs[i].low, rests[i], next);
        } else {
            size_t inside = put_branch(w, BPF_JGE, runs[i].low, rests[i], reject_near(w));

            next = put_branch(w, BPF_JGT, runs[i].high, next, inside);
        }
    }
    return next;
}

/* So many runs, from this prefix on. */
static size_t put_tree(writer_t *w, const oc_host_set_t *set, size_t begin, size_t end,
                       size_t count, unsigned word, unsigned source)
{
    run_t runs[CHAIN];
    size_t middle = begin, yes, no;

    if (count <= CHAIN) {
        for (size_t i = 0; i < count; i++) {
            runs[i] = run_at(set, begin, end, word);
            begin = runs[i].end;
        }
        return put_chain(w, set, runs, count, word, source);
    }
    for (size_t i = 0; i < count / 2; i++) {
        middle = run_at(set, middle, end, word).end;
    }
    yes = put_tree(w, set, middle, end, count - count / 2, word, source);
    no = put_tree(w, set, begin, middle, count / 2, word, source);
    return put_branch(w, BPF_JGE, word_of(&set->prefixes[middle], word), yes, no);
}

/* Compares a word of the source, and those behind it, with these prefixes. */
static size_t put_words(writer_t *w, const oc_host_set_t *set, size_t begin, size_t end,
                        unsigned word, unsigned source)
{
    size_t count = 0, first;

    for (size_t i = begin; i < end; i = run_at(set, i, end, word).end) {
        count++;
    }
    first = put_tree(w, set, begin, end, count, word, source);
    /* a load goes on with what follows it, which may be anything that was written meanwhile */
    if (first != w->first) {
        (void) filter_put(w, BPF_JMP | BPF_JA, 0, 0, (uint32_t) (first - w->first));
    }
    return filter_put(w, BPF_LD | BPF_W | BPF_ABS, 0, 0,
                      (uint32_t) SKF_NET_OFF + source + 4 * word);
}

/* IPv4 addresses are the last word of a mapped one. */
static size_t put_v4(writer_t *w, const oc_host_set_t *set)
{
    size_t count = oc_host_set_mapped(set);

    return 0 == count ? reject_near(w)
                      : put_words(w, set, 0, count, WORDS - 1, SOURCE_V4 - 4 * (WORDS - 1));
}

static size_t put_v6(writer_t *w, const oc_host_set_t *set)
{
    size_t begin = oc_host_set_mapped(set);

    return begin == set->count ? reject_near(w)
                               : put_words(w, set, begin, set->count, 0, SOURCE_V6);
}

/* By the version, which is in the first four bits of both headers. */
static size_t put_both(writer_t *w, const oc_host_set_t *set)
{
    size_t v4 = put_v4(w, set), v6 = put_v6(w, set);

    (void) put_branch(w, BPF_JGE, 0x60, v6, v4);
    return filter_put(w, BPF_LD | BPF_B | BPF_ABS, 0, 0, (uint32_t) SKF_NET_OFF);
}

size_t oc_filter_make(const oc_host_set_t *set, int family, struct sock_filter *program,
                      size_t max)
{
    writer_t w = {.code = program, .first = max};
    size_t first = AF_INET == family ? put_v4(&w, set) : put_both(&w, set), length;

    /* it begins with its first instruction */
    if (first != w.first) {
        (void) filter_put(&w, BPF_JMP | BPF_JA, 0, 0, (uint32_t) (first - w.first));
    }
    if (w.full) {
        return 0;
    }
    length = max - w.first;
    memmove(program, program + w.first, length * sizeof(*program));
    return length;
}
