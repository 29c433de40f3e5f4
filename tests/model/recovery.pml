/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the model of a protocol that survives the loss of aggregation servers; recovery.md describes it, and what of it is built.
 *
 * Ranks 0..N-1; servers 0..K-1, which may die; server K is an aggregator in a rank, which cannot without a rank.
 * Each operation has C chunks (a small one: 1). All steps are in one process, so a state is only data.
 *
 * What the environment may do, at any time and in any order:
 *   DEATHS     servers that may die (default 1)
 *   SUSPECTS   times that a rank may take a server for dead that lives and goes on (default 0): partitions, and
 *              messages of a server that arrive after its death has been seen by others
 *   VICTIMS    mask of the servers that this may happen to (default all)
 *   each rank issues its operations at any time, also before earlier ones have ended (BLOCKING: only after);
 *   LEAVES     ranks that may leave MPI for ever (default 1); nothing that they have not sent leaves them then
 *   INPLACE    the arriving result is written over the contribution, bit by bit
 *   SMALLS     mask of the operations that are small: no ACK, no COMMIT
 *   INFLIGHT   RENEW, JOIN and SETTLE, SETTLED, and LOST of the past, are messages that arrive some time, or never. Without
 *              it they are part of what they are about
 *   SPARE      mask of servers that are none at the beginning: each comes back, as another incarnation, in the place of one
 *              that is lost, when a rank of DECIDERS (default: rank 0) finds it. TWINS: of servers 1 and 2, which have one place
 *   RANKDEATHS ranks that may die (default 0). PEERS: mask of the ranks that aggregate when no server is left
 *              (default all; server K stands for them, and runs with rank 0)
 *   PARTS      the last operation is the Barrier with which a group ends; who has its result has left the group
 *   IMPATIENT  with PARTS, who waits for the others in its last Barrier may take them for gone, though they are not
 *   TO_ROOT    results of large ones go to the last rank only (Reduce); TO_BLOCKS: of chunk c to rank c modulo N
 *              (Reduce_scatter). All others get them all
 * The protocol:
 *   WATCH      a thread of each process takes part in recovery while the process is not in MPI
 *   EMBWITNESS server K gets an ACK and sends a COMMIT, too
 *   SAYCHUNKS  with INFLIGHT, what becomes of a chunk is settled by what ranks say they have of it; without it, all know
 *   SPAN       an operation begins when that of SPAN numbers before has ended (1: as blocking ones do), and with SPANRELEASE=SPAN
 *              and LANERELEASE its result is proof of that
 *   MAKEFIRST  with RANKDEATHS, a rank keeps its connections of the epoch before when it says HELLO in the next one; not built
 *   LEAVESAYS  with IMPATIENT, LEAVE says whether the epoch has been settled
 *   ACKALL     1 (default): ACK to all aggregators when all results of the operation are there
 *              0: as without recovery, ACK to an aggregator when its results are there
 * Wrong variants, each refuted by a search in recovery.sh:
 *   FORGET     servers forget ACKs when an epoch begins
 *   TRUSTPART  with ACKALL=0, a server that has all ACKs answers for all servers
 *   ANYCOMMIT  a rank returns with any COMMIT
 *   OWNERSONLY only owners of chunks get an ACK; NOCERT: "all have everything" is not passed on in it
 *   COORD0     rank 0 settles, instead of a server
 *   EPOCHNUM   an epoch is a number, instead of the set of lost servers
 *   SETTLEFEW  with INFLIGHT, a server settles before all ranks have told it what they have ended
 *   KEEPWORKER receives of an earlier epoch stay posted
 *   NOSUPPLY   nobody supplies results of large operations
 *   NOBOUNCE   with INPLACE, results arrive in the buffer of the contribution directly
 *   EARLY      with TO_ROOT or TO_BLOCKS, a rank that gets no more results returns when all its contributions have
 *              been reduced
 *   NOKEEP     nothing of a small operation is kept after return; LANERELEASE: it is dropped with the result of the next, or
 *              with SPANRELEASE=n of the n-th after it, without SPAN
 *   OWNSIGHT   with SPARE, a server that is back is no part of the epoch: each rank uses it when it has found it
 *   SAYHAVE    with SAYCHUNKS, a rank that gets no result of a chunk says that it has it
 *   PARTEARLY  with PARTS, the last Barrier begins before the rank's operations have ended. PARTS and OPS=1: there is none
 * without MAKEFIRST, or with a PEERS that lacks a rank: what is built, and wrong, too. IMPATIENT without LEAVESAYS
 *
 * Checked: when a rank has died, all others end what they have issued, right or with an error; without that, there is no error;
 * nobody gets or returns with anything but the reduction of all contributions; no contribution is sent that
 * was written over; a buffer that was given back is not written to; and when nothing more can happen, an operation
 * that all ranks have issued has ended on all of them, unless one left MPI before it had ended there.
 */
#ifndef N
#define N 2
#endif
#ifndef K
#define K 2
#endif
#ifndef OPS
#define OPS 1
#endif
#ifndef C
#define C 2
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef SUSPECTS
#define SUSPECTS 0
#endif
#ifndef VICTIMS
#define VICTIMS 255
#endif
#ifndef LEAVES
#define LEAVES 1
#endif
#ifndef SMALLS
#define SMALLS 0
#endif
#ifndef ACKALL
#define ACKALL 1
#endif
#ifndef DECIDERS
#define DECIDERS 1
#endif
#ifndef PEERS
#define PEERS 255
#endif
#ifdef RANKDEATHS
#define OUTS
#endif
#ifdef PARTS
#define OUTS
#endif

#ifdef TRACE
#define SAY printf
#else
#define SAY(...) skip
#endif

/* ---- every combination of indices, as options of one loop ---- */
#define FOR_R(m) m(0) m(1) R2_(m)
#define FOR_S1(m, a) m(a, 0) m(a, 1) S2_(m, a) S3_(m, a)
#define FOR_RS(m) FOR_S1(m, 0) FOR_S1(m, 1) RS2_(m)
#define FOR_RJ1(m, a) m(a, 0) J1_(m, a)
#define FOR_RJ(m) FOR_RJ1(m, 0) FOR_RJ1(m, 1) RJ2_(m)
#define FOR_X1(m, a, b) m(a, b, 0) X1_(m, a, b) X2_(m, a, b)
#define FOR_AJC1(m, a) FOR_X1(m, a, 0) AJ1_(m, a)
#define FOR_RJC(m) FOR_AJC1(m, 0) FOR_AJC1(m, 1) RJC2_(m)
#define FOR_SJC(m) FOR_AJC1(m, 0) FOR_AJC1(m, 1) SJC2_(m) SJC3_(m)
#define FOR_RJS1(m, a, b) m(a, b, 0) m(a, b, 1) Y2_(m, a, b) Y3_(m, a, b)
#define FOR_RJS2(m, a) FOR_RJS1(m, a, 0) RJS1_(m, a)
#define FOR_RJS(m) FOR_RJS2(m, 0) FOR_RJS2(m, 1) RJS2_(m)
#define FOR_SJ(m) FOR_RJ1(m, 0) FOR_RJ1(m, 1) SJ2_(m) SJ3_(m)
#if N > 2
#define R2_(m) m(2)
#define RS2_(m) FOR_S1(m, 2)
#define RJ2_(m) FOR_RJ1(m, 2)
#define RJC2_(m) FOR_AJC1(m, 2)
#define RJS2_(m) FOR_RJS2(m, 2)
#else
#define R2_(m)
#define RS2_(m)
#define RJ2_(m)
#define RJC2_(m)
#define RJS2_(m)
#endif
#if K > 1
#define S2_(m, a) m(a, 2)
#define SJC2_(m) FOR_AJC1(m, 2)
#define Y2_(m, a, b) m(a, b, 2)
#define SJ2_(m) FOR_RJ1(m, 2)
#else
#define S2_(m, a)
#define SJC2_(m)
#define Y2_(m, a, b)
#define SJ2_(m)
#endif
#if K > 2
#define S3_(m, a) m(a, 3)
#define SJC3_(m) FOR_AJC1(m, 3)
#define Y3_(m, a, b) m(a, b, 3)
#define SJ3_(m) FOR_RJ1(m, 3)
#else
#define S3_(m, a)
#define SJC3_(m)
#define Y3_(m, a, b)
#define SJ3_(m)
#endif
#if OPS > 1
#define J1_(m, a) m(a, 1) J2_(m, a)
#define AJ1_(m, a) FOR_X1(m, a, 1) AJ2_(m, a)
#define RJS1_(m, a) FOR_RJS1(m, a, 1) RJS3_(m, a)
#if OPS > 2
#define J2_(m, a) m(a, 2)
#define AJ2_(m, a) FOR_X1(m, a, 2)
#define RJS3_(m, a) FOR_RJS1(m, a, 2)
#else
#define J2_(m, a)
#define AJ2_(m, a)
#define RJS3_(m, a)
#endif
#else
#define J1_(m, a)
#define AJ1_(m, a)
#define RJS1_(m, a)
#endif
#if C > 1
#define X1_(m, a, b) m(a, b, 1)
#else
#define X1_(m, a, b)
#endif
#if C > 2
#define X2_(m, a, b) m(a, b, 2)
#else
#define X2_(m, a, b)
#endif

#define BIT(i)      (1 << (i))
#define SERVERS     (BIT(K) - 1)               /* those that may be lost */
#define RANKS       (BIT(N) - 1)
/* An epoch: servers that are lost, and above them those that are back. Of these the operations' servers are a function. */
#ifdef SPARE
#define BACK(s)     (BIT(s) << 4)
#define NOT_IN(e)   (((e) & SERVERS) | (SPARE & ~((e) >> 4)) | SECOND(e))
/* two that are back in the place of one: server 2 after server 1, which is preferred, whether it runs or not */
#ifdef TWINS
#define SECOND(e)   (((e) & (BACK(1) | BACK(2) | BIT(1))) == (BACK(1) | BACK(2)) -> BIT(2) : 0)
#define MAY_RETURN_TO(r, s) (s != 2 || (!ALIVE(1) && (NOT_IN(lostR[r]) & BIT(1))))
#else
#define SECOND(e)   0
#define MAY_RETURN_TO(r, s) true
#endif
#define FROM_BEGINNING (SERVERS & ~SPARE)
#else
#define NOT_IN(e)   (e)
#define FROM_BEGINNING SERVERS
#endif
#define USES(r, s)  ((s) == K -> NOT_IN(lostR[r]) == SERVERS : !(NOT_IN(lostR[r]) & BIT(s)))
#define SMALL(j)    ((SMALLS >> (j)) & 1)
#define CHUNKS(j)   (SMALL(j) -> 1 : BIT(C) - 1)
/* who gets the result of a chunk, and which results a rank gets */
#if defined(TO_ROOT)
#define GETS(r, j)  (((r) == N - 1 || SMALL(j)) -> CHUNKS(j) : 0)
#elif defined(TO_BLOCKS)
#define GETS(r, j)  (SMALL(j) -> 1 : CHUNKS(j) & (BIT(r) | BIT((r) + N)))
#else
#define GETS(r, j)  CHUNKS(j)
#endif
#define LACKS(r, j, c) ((GETS(r, j) & ~have[P(r, j)] & BIT(c)) != 0)
/* some rank still needs it */
#define NEEDED(j, c) (LACKS(0, j, c) || LACKS(1, j, c) || LACKS(N - 1, j, c))
#define CHUNK(j, c) ((c) == 0 || !SMALL(j))    /* there is such a chunk */
#define P(r, j)     ((r) * OPS + (j))
#define A(s, j)     ((s) * OPS + (j))
#define Q(s, j, c)  (((s) * OPS + (j)) * C + (c))

/* ---- state ---- */
byte lostR[N];                /* servers that this rank takes for lost: its epoch */
byte lostS[K + 1];            /* ... and that this server does */
byte gone;                    /* ranks that have left MPI for ever */
byte dead;                    /* servers */
byte deaths = DEATHS, suspects = SUSPECTS, leaves = LEAVES; /* may still happen */

byte next[N];                 /* operation that it issues next */
byte st[N * OPS];             /* 0 not issued, 1 running, 2 ended */
byte have[N * OPS];           /* chunks whose results are there, whole */
byte wire[N * OPS];           /* results under way to this rank's worker of now */
byte late[N * OPS];           /* ... to one of its earlier workers that still lives (KEEPWORKER) */
byte hurt[N * OPS];           /* chunks whose contribution has been written over, in part or whole */
byte plan[N * OPS];           /* in this epoch: 0 not settled, 1 go on, 2 all ranks have everything */
byte commits[N * OPS];        /* servers whose COMMIT has come */
byte kept;                    /* small operation 0, by rank: ended, and its message is still there */
byte marks;                   /* ranks that had ended operation 0 when they contributed to operation 1 */

byte come[(K + 1) * OPS * C]; /* ranks whose contribution is here, in this epoch */
byte result[(K + 1) * OPS];   /* chunks whose result is here, in this epoch */
byte acks[(K + 1) * OPS];     /* ranks known to have all (of this aggregator, if not ACKALL): stays */
byte done[(K + 1) * OPS];     /* COMMIT: stays */
byte told[(K + 1) * OPS];     /* a rank said that it has ended: stays */

#ifdef SAYCHUNKS
byte again[N * OPS];          /* chunks that are reduced in this epoch, as this rank has heard */
byte given[N * OPS];          /* ... that somebody has, and gives */
byte lacked[(K + 1) * OPS];   /* chunks that a rank has said it lacks, of those that come to it */
byte some[(K + 1) * OPS];     /* ... that a rank has said it has */
#define ALL_AGAIN(r, j) again[P(r, j)] = CHUNKS(j)
#define GO_CHUNKS(r, j, s) \
    again[P(r, j)] = lacked[A(s, j)] & ~some[A(s, j)]; given[P(r, j)] = lacked[A(s, j)] & some[A(s, j)]
/* who gets no result says nothing of it: what others say counts */
#ifdef SAYHAVE
#define HAS(r, j) ((have[P(r, j)] | ~GETS(r, j)) & CHUNKS(j))
#else
#define HAS(r, j) (have[P(r, j)] & GETS(r, j))
#endif
#define SAY_CHUNKS(s, r, j) lacked[A(s, j)] = lacked[A(s, j)] | (GETS(r, j) & ~have[P(r, j)]); \
    some[A(s, j)] = some[A(s, j)] | HAS(r, j)
#define HEAR_NO_CHUNKS(s) lacked[A(s, i)] = 0; some[A(s, i)] = 0
#define OF_SOMEBODY(s, j) assert(((lacked[A(s, j)] & some[A(s, j)]) & ~(have[P(0, j)] | have[P(1, j)] | have[P(N - 1, j)])) == 0)
#else
#define ALL_AGAIN(r, j)       skip
#define GO_CHUNKS(r, j, s)    skip
#define SAY_CHUNKS(s, r, j)   skip
#define HEAR_NO_CHUNKS(s)     skip
#define OF_SOMEBODY(s, j)     skip
#endif

#ifdef INFLIGHT
byte snap[N];                 /* operations that had ended here when the epoch began */
byte joined[K + 1];           /* ranks whose RENEW, JOIN and SETTLE of this epoch are here */
byte said[(K + 1) * OPS];     /* ... of which these have said that they have ended the operation */
byte go[(K + 1) * OPS];       /* it is settled in this epoch: go on */
#define JOINED(s, r)   (lostS[s] == 0 || (joined[s] & BIT(r)))
#define JOINED_ALL(s)  HEARD_ENOUGH(s)
#define HAS_ENDED(s, j) (said[A(s, j)] != 0)
#define SNAP(r)        snap[r] = snap[r] | (st[P(r, i)] == 2 -> BIT(i) : 0)
#define FORGET_JOINS(s) said[A(s, i)] = 0; go[A(s, i)] = 0; joined[s] = 0; HEAR_NO_CHUNKS(s)
#ifdef SETTLEFEW
#define HEARD_ENOUGH(s) (joined[s] != 0)
#else
#define HEARD_ENOUGH(s) (joined[s] == RANKS)
#endif
#else
#define JOINED(s, r)    true
#define JOINED_ALL(s) (SAME(lostR[0], lostS[s]) && SAME(lostR[1], lostS[s]) && SAME(lostR[N - 1], lostS[s]))
#define HAS_ENDED(s, j) ENDED(j)
#define SNAP(r)         skip
#define FORGET_JOINS(s) skip
#endif

#ifdef OUTS
byte out;                     /* ranks that take no part any more: they have died, given up, or left the group */
#endif
#ifdef IMPATIENT
byte refuses;                 /* servers that say of the group of this epoch that a rank has left it */
#endif
#ifdef RANKDEATHS
byte rankdeaths = RANKDEATHS; /* may still happen */
byte died;                    /* ranks */
byte failed;                  /* servers that have ended the job, as a rank has died or given up */
byte linked[K + 1];           /* ranks that have a connection to this server */
#endif

byte own[8 * 4];       /* owner of place i among the servers that are not lost; K if there are none */
byte many[16];                /* bits of a set */
byte i, o, x;                 /* only inside a step */

#define INSIDE(r) (!(gone & BIT(r)))
#ifdef OUTS
#define THERE(r)  (!(out & BIT(r)))
#else
#define THERE(r)  true
#endif
#ifdef WATCH
#define AWAKE(r)  THERE(r)
#define ACTIVE(r) (THERE(r) && (INSIDE(r) || lostR[r] != 0))  /* it only works in the rank's place after a loss */
#else
#define AWAKE(r)  (THERE(r) && INSIDE(r))
#define ACTIVE(r) (THERE(r) && INSIDE(r))
#endif
#ifdef RANKDEATHS
#define ALIVE(s)  ((s) == K -> !(died & BIT(0)) : !(dead & BIT(s)))
#else
#define ALIVE(s)  (!(dead & BIT(s)))
#endif

#if defined(OWNSIGHT)
#define SAME(a, b)  ((((a) ^ (b)) & SERVERS) == 0)
#define NEWER(a, b) (((a) & ~(b) & SERVERS) != 0)
#define JOIN(a, b)  ((a) | ((b) & SERVERS))
#elif defined(EPOCHNUM)
#define SAME(a, b)  (many[a] == many[b])
#define NEWER(a, b) (many[a] > many[b])
#define JOIN(a, b)  (b)
#else
#define SAME(a, b)  ((a) == (b))
#define NEWER(a, b) (((a) & ~(b)) != 0)
#define JOIN(a, b)  ((a) | (b))
#endif

#define OWNER(j, c, lost) own[NOT_IN(lost) * 4 + (((j) + (c)) & 3)]
#define SETTLER(j, lost)  own[NOT_IN(lost) * 4 + (OWNBASE(j) & 3)]

/* Who has to COMMIT before a rank returns. */
#ifdef OWNERSONLY
#define OWNBASE(j) (j)
#if C > 1
#define COMMITTERS(j, lost) (BIT(OWNER(j, 0, lost)) | BIT(OWNER(j, 1, lost)))
#else
#define COMMITTERS(j, lost) BIT(OWNER(j, 0, lost))
#endif
#else
#define OWNBASE(j) 0
#ifdef EMBWITNESS
#define COMMITTERS(j, lost) (BIT(K) | (SERVERS & ~NOT_IN(lost)))
#else
#define COMMITTERS(j, lost) ((NOT_IN(lost) == SERVERS) -> BIT(K) : SERVERS & ~NOT_IN(lost))
#endif
#endif

#ifdef ANYCOMMIT
#define MAY_RETURN(r, j) (commits[P(r, j)] != 0)
#else
#define MAY_RETURN(r, j) ((COMMITTERS(j, lostR[r]) & ~commits[P(r, j)]) == 0)
#endif

#ifdef EARLY
#define REDUCED(j, c, lost) ((result[A(OWNER(j, c, lost), j)] & BIT(c)) != 0)
#define EARLIER(r, j) (have[P(r, j)] == GETS(r, j) && wire[P(r, j)] == 0 && REDUCED(j, 0, lostR[r]) && REDUCED(j, C - 1, lostR[r]))
#else
#define EARLIER(r, j) false
#endif

/* A rank that goes into an epoch says BYE, and HELLO again with its new worker. */
#ifdef RANKDEATHS
#define LINKED(s, r) ((linked[s] & BIT(r)) != 0)
#ifdef MAKEFIRST
#define UNLINK(r)    skip
#else
#define UNLINK(r)    i = 0; do :: i <= K -> linked[i] = linked[i] & ~BIT(r); i++ :: else -> break od
#endif
#else
#define LINKED(s, r) true
#define UNLINK(r)    skip
#endif

/* A rank begins an epoch: new worker, nothing under way, nothing settled. */
#ifdef KEEPWORKER
#define DROP(r) late[P(r, i)] = late[P(r, i)] | wire[P(r, i)]; wire[P(r, i)] = 0
#else
#define DROP(r) wire[P(r, i)] = 0
#endif
#define ENTER(r, lost) \
    UNLINK(r); lostR[r] = lost; i = 0; \
    do :: i < OPS -> DROP(r); plan[P(r, i)] = 0; commits[P(r, i)] = 0; SNAP(r); i++ :: else -> break od; i = 0

/* ... and a server: facts stay (acks, done), what is under way goes. */
#ifdef FORGET
#define FORGET_FACTS(s) acks[A(s, i)] = 0; done[A(s, i)] = 0; told[A(s, i)] = 0
#else
#define FORGET_FACTS(s) skip
#endif
#ifdef IMPATIENT
#define FORGET_REFUSAL(s) refuses = refuses & ~BIT(s)
#else
#define FORGET_REFUSAL(s) skip
#endif
#define ENTER_SERVER(s, lost) \
    lostS[s] = lost; FORGET_REFUSAL(s); i = 0; \
    do :: i < OPS -> result[A(s, i)] = 0; x = 0; FORGET_FACTS(s); FORGET_JOINS(s); \
          do :: x < C -> come[Q(s, i, x)] = 0; x++ :: else -> break od; i++ \
       :: else -> break od; i = 0; x = 0

/* Chunks of an operation that an aggregator has to be acknowledged for. */
#define OWNED(j, c, s, lost) (OWNER(j, c, lost) == (s) -> BIT(c) : 0)
#if ACKALL
#define ACKED(j, s, lost) CHUNKS(j)
#elif C == 1
#define ACKED(j, s, lost) OWNED(j, 0, s, lost)
#elif C == 2
#define ACKED(j, s, lost) (OWNED(j, 0, s, lost) | OWNED(j, 1, s, lost))
#else
#define ACKED(j, s, lost) (OWNED(j, 0, s, lost) | OWNED(j, 1, s, lost) | OWNED(j, 2, s, lost))
#endif

/* ---- the application ---- */
#ifdef BLOCKING
#define MAY_ISSUE(r) (next[r] == 0 || st[P(r, next[r] - 1)] == 2)
#else
#define MAY_ISSUE(r) MAY_BEGIN(r)
#endif
/* The last collective of a group is a Barrier, which a rank begins when its own have ended. */
#if defined(SPAN)
#define MAY_BEGIN(r) (next[r] < SPAN || st[P(r, next[r] - SPAN)] == 2)
#elif !defined(PARTS)
#define MAY_BEGIN(r) true
#else
#define MAY_BEGIN(r) (next[r] != OPS - 1 || ENDED_BEFORE(r))
#endif
#if defined(PARTEARLY) || OPS == 1
#define ENDED_BEFORE(r) true
#else
#define ENDED_BEFORE(r) (st[P(r, 0)] == 2)
#endif
#define ISSUE(r) :: d_step { THERE(r) && !(gone & BIT(r)) && next[r] < OPS && MAY_ISSUE(r) -> \
    SAY("rank %d issues operation %d\n", r, next[r]); \
    st[P(r, next[r])] = 1; plan[P(r, next[r])] = 1; ALL_AGAIN(r, next[r]); next[r]++ }
#define LEAVE(r) :: d_step { leaves > 0 && !(gone & BIT(r)) && next[r] > 0 -> SAY("rank %d leaves MPI for ever\n", r); \
    leaves--; \
    gone = gone | BIT(r) }

/* ---- data plane ---- */
#ifdef SAYCHUNKS
#define IS_REDUCED(r, j, c) (again[P(r, j)] & BIT(c))
#define IS_GIVEN(r, j, c)   (given[P(r, j)] & BIT(c))
#else
#define IS_REDUCED(r, j, c) (!(have[P(r, j)] & BIT(c)) && NEEDED(j, c))
#define IS_GIVEN(r, j, c)   NEEDED(j, c)
#endif
#define CONTRIBUTE(r, j, c) :: d_step { \
    ACTIVE(r) && CHUNK(j, c) && st[P(r, j)] == 1 && plan[P(r, j)] == 1 && IS_REDUCED(r, j, c) \
    && ALIVE(OWNER(j, c, lostR[r])) && SAME(lostS[OWNER(j, c, lostR[r])], lostR[r]) \
    && JOINED(OWNER(j, c, lostR[r]), r) && !(come[Q(OWNER(j, c, lostR[r]), j, c)] & BIT(r)) \
    && !(result[A(OWNER(j, c, lostR[r]), j)] & BIT(c)) -> \
    SAY("rank %d contributes to chunk %d of operation %d, to server %d\n", r, c, j, OWNER(j, c, lostR[r])); \
    assert(!(hurt[P(r, j)] & BIT(c))); \
    if :: j == 1 && st[P(r, 0)] == 2 -> marks = marks | BIT(r) :: else fi; \
    o = OWNER(j, c, lostR[r]); come[Q(o, j, c)] = come[Q(o, j, c)] | BIT(r); o = 0 }
#define REDUCE(s, j, c) :: d_step { \
    ALIVE(s) && CHUNK(j, c) && come[Q(s, j, c)] == RANKS && !(result[A(s, j)] & BIT(c)) -> \
    SAY("server %d reduces chunk %d of operation %d\n", s, c, j); \
    result[A(s, j)] = result[A(s, j)] | BIT(c) }
/* only while its worker of this epoch lives can a rank be reached */
#define SEND_RESULT(r, j, s) :: d_step { \
    ALIVE(s) && SAME(lostS[s], lostR[r]) && JOINED(s, r) && st[P(r, j)] == 1 && plan[P(r, j)] == 1 \
    && (result[A(s, j)] & GETS(r, j) & ~have[P(r, j)] & ~wire[P(r, j)]) != 0 -> \
    x = result[A(s, j)] & GETS(r, j) & ~have[P(r, j)] & ~wire[P(r, j)]; x = x & (0 - x); \
    SAY("server %d sends a result (mask %d) of operation %d to rank %d\n", s, x, j, r); \
    wire[P(r, j)] = wire[P(r, j)] | x; x = 0 }
#define TAKE(r, j, c) :: d_step { ACTIVE(r) && (wire[P(r, j)] & BIT(c)) -> \
    SAY("rank %d has the result of chunk %d of operation %d\n", r, c, j); \
    wire[P(r, j)] = wire[P(r, j)] & ~BIT(c); have[P(r, j)] = have[P(r, j)] | BIT(c); HURT(r, j, c); LEAVE_GROUP(r, j) }
/* who has the result of the last Barrier leaves at once */
#if defined(PARTEARLY)
#define LEAVE_GROUP(r, j) skip
#elif defined(PARTS) && OPS > 1
#define LEAVE_GROUP(r, j) if :: j == OPS - 1 -> SAY("rank %d leaves the group\n", r); \
    st[P(r, j)] = 2; out = out | BIT(r) :: else fi
#else
#define LEAVE_GROUP(r, j) skip
#endif
#ifdef INPLACE
#define HURT(r, j, c) hurt[P(r, j)] = hurt[P(r, j)] | BIT(c)
#else
#define HURT(r, j, c) skip
#endif
#ifdef NOBOUNCE
#define HALF(r, j, c) :: d_step { ACTIVE(r) && (wire[P(r, j)] & BIT(c)) && !(hurt[P(r, j)] & BIT(c)) \
    && !SMALL(j) -> SAY("half of the result of chunk %d of operation %d is at rank %d\n", c, j, r); \
    hurt[P(r, j)] = hurt[P(r, j)] | BIT(c) }
#else
#define HALF(r, j, c)
#endif

/* ---- ACK, COMMIT, return ---- */
#define ACK(r, j, s) :: d_step { \
    ACTIVE(r) && !SMALL(j) && st[P(r, j)] == 1 && plan[P(r, j)] != 0 && (COMMITTERS(j, lostR[r]) & BIT(s)) \
    && ALIVE(s) && SAME(lostS[s], lostR[r]) && JOINED(s, r) && !(acks[A(s, j)] & BIT(r)) && !done[A(s, j)] \
    && (GETS(r, j) & ACKED(j, s, lostR[r]) & ~have[P(r, j)]) == 0 -> \
    SAY("rank %d acknowledges operation %d to server %d\n", r, j, s); \
    acks[A(s, j)] = acks[A(s, j)] | BIT(r); \
    if :: acks[A(s, j)] == RANKS || CERTIFIED(r, j) -> done[A(s, j)] = 1 :: else fi }
#ifdef NOCERT
#define CERTIFIED(r, j) false
#else
#define CERTIFIED(r, j) (plan[P(r, j)] == 2)
#endif
#define COMMIT(r, j, s) :: d_step { \
    ACTIVE(r) && st[P(r, j)] == 1 && plan[P(r, j)] != 0 && done[A(s, j)] && ALIVE(s) \
    && SAME(lostS[s], lostR[r]) && JOINED(s, r) && (COMMITTERS(j, lostR[r]) & BIT(s)) && !(commits[P(r, j)] & BIT(s)) -> \
    SAY("rank %d has the COMMIT of server %d for operation %d\n", r, s, j); \
    commits[P(r, j)] = commits[P(r, j)] | BIT(s) }
#define RETURN(r, j) :: d_step { \
    ACTIVE(r) && !SMALL(j) && st[P(r, j)] == 1 && plan[P(r, j)] != 0 && (MAY_RETURN(r, j) || EARLIER(r, j)) -> \
    SAY("rank %d returns from operation %d\n", r, j); \
    assert(have[P(r, j)] == GETS(r, j)); assert(late[P(r, j)] == 0); \
    assert(wire[P(r, j)] == 0); st[P(r, j)] = 2 } \
    :: d_step { ACTIVE(r) && SMALL(j) && st[P(r, j)] == 1 && have[P(r, j)] == 1 -> \
    SAY("rank %d returns from small operation %d\n", r, j); \
    st[P(r, j)] = 2; KEEP(r, j) }
#ifdef NOKEEP
#define KEEP(r, j) skip
#else
#define KEEP(r, j) if :: j == 0 -> kept = kept | BIT(r) :: else fi; i = 0
#endif

/* The message of small operation 0 may go when the result of operation 1 proves that nobody needs it. */
#if OPS > 1
#ifdef LANERELEASE
#define PROVES true
#else
#define PROVES (marks == RANKS)
#endif
#ifdef SPANRELEASE
#define PROOF SPANRELEASE
#else
#define PROOF 1
#endif
#define RELEASE(r) :: d_step { ACTIVE(r) && (kept & BIT(r)) && have[P(r, PROOF)] == GETS(r, PROOF) && PROVES -> \
    SAY("rank %d drops the message of operation 0\n", r); kept = kept & ~BIT(r) }
#else
#define RELEASE(r)
#endif

/* ---- who is lost ---- */
#define IN_OPERATION(r) (st[P(r, 0)] == 1 || st[P(r, OPS / 2)] == 1 || (OPS > 1 && st[P(r, OPS - 1)] == 1))
#ifdef WATCH
#define NOTICES(r) true
#else
#define NOTICES(r) IN_OPERATION(r)
#endif
#define SUSPECT(r, s) :: d_step { \
    s < K && (VICTIMS & BIT(s)) && AWAKE(r) && NOTICES(r) && !(NOT_IN(lostR[r]) & BIT(s)) && !(ALIVE(s) && suspects == 0) -> \
    SAY("rank %d takes server %d for lost\n", r, s); \
    if :: ALIVE(s) -> suspects-- :: else fi; \
    ENTER(r, (lostR[r] | BIT(s))) }
#define TELL(r, s) :: d_step { \
    AWAKE(r) && ALIVE(s) && !(NOT_IN(lostR[r]) & BIT(s)) && NEWER(lostR[r], lostS[s]) -> \
    SAY("rank %d tells server %d what is lost: %d\n", r, s, lostR[r]); \
    ENTER_SERVER(s, JOIN(lostS[s], lostR[r])) }
#define HEAR(r, s) :: d_step { \
    AWAKE(r) && ALIVE(s) && LINKED(s, r) && !(NOT_IN(lostR[r]) & BIT(s)) && NEWER(lostS[s], lostR[r]) -> \
    SAY("rank %d hears from server %d what is lost: %d\n", r, s, lostS[s]); \
    ENTER(r, JOIN(lostR[r], lostS[s])) }
/* LOST messages that were under way when the sender had lost no more than this one. */
#ifdef INFLIGHT
#define TELL_ONE(r, s, x1) :: d_step { \
    AWAKE(r) && ALIVE(s) && !(NOT_IN(lostR[r]) & BIT(s)) && ((lostR[r] & ~lostS[s]) & BIT(x1)) \
    && ((lostR[r] & ~lostS[s]) & ~BIT(x1)) != 0 -> \
    SAY("rank %d tells server %d that server %d is lost\n", r, s, x1); \
    ENTER_SERVER(s, (lostS[s] | BIT(x1))) }
#define HEAR_ONE(r, s, x1) :: d_step { \
    AWAKE(r) && ALIVE(s) && LINKED(s, r) && !(NOT_IN(lostR[r]) & BIT(s)) && ((lostS[s] & ~lostR[r]) & BIT(x1)) \
    && ((lostS[s] & ~lostR[r]) & ~BIT(x1)) != 0 -> \
    SAY("rank %d hears from server %d that server %d is lost\n", r, s, x1); \
    ENTER(r, (lostR[r] | BIT(x1))) }
#define LATE(r, s) TELL_ONE(r, s, 0) TELL_ONE(r, s, 1) HEAR_ONE(r, s, 0) HEAR_ONE(r, s, 1) LATE2(r, s) LATE_BACK(r, s)
#ifdef SPARE
#define LATE_BACK(r, s) TELL_ONE(r, s, 2 + K) HEAR_ONE(r, s, 2 + K) TELL_ONE(r, s, 3 + K) HEAR_ONE(r, s, 3 + K)
#else
#define LATE_BACK(r, s)
#endif
#if K > 2
#define LATE2(r, s) TELL_ONE(r, s, 2) HEAR_ONE(r, s, 2)
#else
#define LATE2(r, s)
#endif
#else
#define LATE(r, s)
#endif
#define DIE(a, r) :: d_step { r < K && (VICTIMS & BIT(r)) && ALIVE(r) && deaths > 0 -> SAY("server %d dies\n", r); \
    deaths--; dead = dead | BIT(r) }

/*
 * ---- a server that has come back: another incarnation, which knows nothing ----
 * One of NUMBERS that were servers' before; it is found when that is known to be lost, and any rank of DECIDERS may find it.
 */
#ifdef RANKDEATHS
/* not before all ranks have met in the epoch */
#define HAS_RENEWED(r) (HAVE_MET(r, 0) && HAVE_MET(r, K - 1) && HAVE_MET(r, K))
#define HAVE_MET(r, s) (!USES(r, s) || (SAME(lostS[s], lostR[r]) && joined[s] == RANKS))
#else
#define HAS_RENEWED(r) true
#endif
#ifdef SPARE
#ifdef OWNSIGHT
#define DECIDES(r) true
#else
#define DECIDES(r) ((DECIDERS & BIT(r)) != 0)
#endif
#define RETURNED(r, s) :: d_step { \
    s < K && (SPARE & BIT(s)) && DECIDES(r) && AWAKE(r) && ALIVE(s) && (lostR[r] & SERVERS) != 0 \
    && !(lostR[r] & (BACK(s) | BIT(s))) && MAY_RETURN_TO(r, s) && HAS_RENEWED(r) -> \
    SAY("rank %d finds that server %d is back\n", r, s); \
    ENTER(r, (lostR[r] | BACK(s))) }
#else
#define RETURNED(r, s)
#endif

/* ---- a rank that dies; a group that is left ---- */
#ifdef OUTS
#define FAIL(r) \
    SAY("rank %d gives up\n", r); \
    out = out | BIT(r); i = 0; \
    do :: i < OPS -> if :: st[P(r, i)] == 1 -> st[P(r, i)] = 3 :: else fi; i++ :: else -> break od; i = 0
#endif
#ifdef RANKDEATHS
#define DIE_RANK(r) :: d_step { rankdeaths > 0 && THERE(r) -> SAY("rank %d dies\n", r); \
    rankdeaths--; died = died | BIT(r); out = out | BIT(r) }
/* a connection that ends without BYE is a process that died; who gives up says so */
#define NOTICE_RANK(r, s) :: d_step { ALIVE(s) && LINKED(s, r) && !THERE(r) && !(failed & BIT(s)) -> \
    SAY("server %d ends the job, as rank %d is gone\n", s, r); failed = failed | BIT(s) }
#define JOB_ERROR(r, s) :: d_step { AWAKE(r) && ALIVE(s) && LINKED(s, r) && (failed & BIT(s)) -> FAIL(r) }
#define HELLO(r, s) :: d_step { AWAKE(r) && ALIVE(s) && USES(r, s) && !LINKED(s, r) && !(failed & BIT(s)) -> \
    SAY("rank %d has the WELCOME of server %d\n", r, s); linked[s] = linked[s] | BIT(r) }
/* a server that has ended the job takes nobody back, and the next one of its name is another one; a rank's aggregator is gone for good */
#ifdef TELLSWHY
#define REFUSED(r, s) :: d_step { AWAKE(r) && ALIVE(s) && USES(r, s) && !LINKED(s, r) && (failed & BIT(s)) -> FAIL(r) }
#else
#define REFUSED(r, s) :: d_step { s < K && AWAKE(r) && ALIVE(s) && USES(r, s) && !LINKED(s, r) && (failed & BIT(s)) -> \
    SAY("server %d is another one for rank %d\n", s, r); ENTER(r, (lostR[r] | BIT(s))) } \
    :: d_step { s == K && AWAKE(r) && USES(r, s) && !LINKED(s, r) && (failed & BIT(s)) -> FAIL(r) }
#endif
#define LONELY(r, s) :: d_step { s == K && AWAKE(r) && (USES(r, s) || LINKED(s, r)) && (died & PEERS) -> FAIL(r) }
#define OF_DEATH(r, s) NOTICE_RANK(r, s) JOB_ERROR(r, s) HELLO(r, s) REFUSED(r, s) LONELY(r, s)
#else
#define DIE_RANK(r)
#define OF_DEATH(r, s)
#endif
#if defined(PARTS) && (OPS == 1 || defined(PARTEARLY))
/* without a Barrier, or not at once */
#define PART(r) :: d_step { THERE(r) && st[P(r, 0)] == 2 && st[P(r, OPS - 1)] == 2 -> \
    SAY("rank %d leaves the group\n", r); out = out | BIT(r) }
#elif defined(PARTS)
/* it waits for others in vain, and for so long that it takes them for gone */
#define WAITS_TO_PART(r) (st[P(r, OPS - 1)] == 1 && plan[P(r, OPS - 1)] == 0)
#define PART(r) :: d_step { AWAKE(r) && WAITS_TO_PART(r) && MAY_GIVE_UP(r) -> \
    SAY("rank %d leaves the group, whose others have left it\n", r); \
    out = out | BIT(r); st[P(r, OPS - 1)] = 2; TELL_OTHERS(r) }
#ifdef IMPATIENT
#define MAY_GIVE_UP(r) (HAS_JOINED(r, 0) && HAS_JOINED(r, K - 1) && HAS_JOINED(r, K))
#define HAS_JOINED(r, s) (!USES(r, s) || (SAME(lostS[s], lostR[r]) && (joined[s] & BIT(r))))
#define TELL_OTHERS(r) i = 0; \
    do \
    :: i <= K -> if :: SAME(lostS[i], lostR[r]) && NOT_COMPLETE(i) -> refuses = refuses | BIT(i) :: else fi; i++ \
    :: else -> break \
    od; i = 0
#define IS_REFUSED(r, s) :: d_step { AWAKE(r) && ALIVE(s) && lostR[r] != 0 && SAME(lostS[s], lostR[r]) && (refuses & BIT(s)) \
    && WAITS_AT_ALL(r) -> \
    if :: WAITS_TO_PART(r) -> st[P(r, OPS - 1)] = 2 :: else fi; FAIL(r) }
#define WAITS_AT_ALL(r) (st[P(r, 0)] == 1 || st[P(r, OPS - 1)] == 1 || st[P(r, 0)] == 2)
#ifdef LEAVESAYS
#define NOT_COMPLETE(s) true
#else
#define NOT_COMPLETE(s) (joined[s] != RANKS)
#endif
#else
#define MAY_GIVE_UP(r) (out != 0)
#define TELL_OTHERS(r) skip
#endif
#else
#define PART(r)
#endif

/* ---- settling: at one aggregator for each operation, the same for all who agree on what is lost ---- */
#ifdef COORD0
#define SETTLES AWAKE(0)
#else
#define SETTLES true
#endif
#define ENDED(j) (st[P(0, j)] == 2 || st[P(1, j)] == 2 || st[P(N - 1, j)] == 2)
#define UNSETTLED(s, j) ((st[P(0, j)] == 1 && plan[P(0, j)] == 0) || (st[P(1, j)] == 1 && plan[P(1, j)] == 0) \
                         || (st[P(N - 1, j)] == 1 && plan[P(N - 1, j)] == 0))
#if ACKALL || defined(TRUSTPART)
#define ALL_HAVE(s, j) done[A(s, j)]
#else
#define ALL_HAVE(s, j) told[A(s, j)]
#endif
#define SETTLE(s, j) :: d_step { \
    SETTLES && ALIVE(s) && lostS[s] != 0 && s == SETTLER(j, lostS[s]) && JOINED_ALL(s) && UNSETTLED(s, j) \
    && !(!SMALL(j) && HAS_ENDED(s, j) && ALL_HAVE(s, j)) && !HAS_GONE(s, j) -> \
    SAY("server %d has heard all ranks about operation %d\n", s, j); \
    if \
    :: !SMALL(j) && HAS_ENDED(s, j) -> done[A(s, j)] = 1; told[A(s, j)] = 1 \
    :: else -> GO_ON(s, j) \
    fi; i = 0 }
#ifdef INFLIGHT
#define HAS_GONE(s, j) (go[A(s, j)] != 0)
#define GO_ON(s, j) OF_SOMEBODY(s, j); go[A(s, j)] = 1
#define SETTLED(r, j, s) :: d_step { \
    ACTIVE(r) && ALIVE(s) && lostS[s] != 0 && go[A(s, j)] && SAME(lostS[s], lostR[r]) \
    && st[P(r, j)] == 1 && plan[P(r, j)] == 0 -> \
    SAY("rank %d goes on with operation %d, as server %d says\n", r, j, s); \
    plan[P(r, j)] = 1; GO_CHUNKS(r, j, s) }
#define JOIN_SERVER(r, s) :: d_step { \
    AWAKE(r) && ALIVE(s) && LINKED(s, r) && lostS[s] != 0 && SAME(lostS[s], lostR[r]) && !(joined[s] & BIT(r)) -> \
    SAY("rank %d joins server %d\n", r, s); \
    joined[s] = joined[s] | BIT(r); i = 0; \
    do \
    :: i < OPS -> if :: (snap[r] & BIT(i)) -> said[A(s, i)] = said[A(s, i)] | BIT(r) :: else fi; SAY_CHUNKS(s, r, i); i++ \
    :: else -> break \
    od; i = 0 }
#else
#define HAS_GONE(s, j) false
#define GO_ON(s, j) i = 0; \
        do \
        :: i < N -> if :: st[P(i, j)] == 1 && plan[P(i, j)] == 0 -> plan[P(i, j)] = 1 :: else fi; i++ \
        :: else -> break \
        od
#define SETTLED(r, j, s)
#define JOIN_SERVER(r, s)
#endif
/* It knows that all have everything: nobody needs to be waited for. */
#define SETTLE_DONE(r, j, s) :: d_step { \
    SETTLES && ACTIVE(r) && ALIVE(s) && lostS[s] != 0 && s == SETTLER(j, lostS[s]) && SAME(lostS[s], lostR[r]) \
    && JOINED(s, r) && ALL_HAVE(s, j) && st[P(r, j)] == 1 && plan[P(r, j)] != 2 -> \
    SAY("server %d tells rank %d that all have operation %d\n", s, r, j); \
    assert(have[P(r, j)] == GETS(r, j)); plan[P(r, j)] = 2 }
/* A rank that has a result gives it to the owner, who sends it to those that lack it. */
#ifdef NOSUPPLY
#define SUPPLIES(j) SMALL(j)
#else
#define SUPPLIES(j) true
#endif
#define SUPPLY(r, j, c) :: d_step { SUPPLIES(j) && \
    ACTIVE(r) && CHUNK(j, c) && lostR[r] != 0 && (have[P(r, j)] & BIT(c)) \
    && (plan[P(r, j)] == 1 || (st[P(r, j)] == 2 && SMALL(j) && (j != 0 || (kept & BIT(r))))) \
    && (st[P(r, j)] == 1 || SMALL(j)) \
    && ALIVE(OWNER(j, c, lostR[r])) && SAME(lostS[OWNER(j, c, lostR[r])], lostR[r]) \
    && JOINED(OWNER(j, c, lostR[r]), r) && !(result[A(OWNER(j, c, lostR[r]), j)] & BIT(c)) && IS_GIVEN(r, j, c) -> \
    SAY("rank %d supplies the result of chunk %d of operation %d to server %d\n", r, c, j, OWNER(j, c, lostR[r])); \
    o = OWNER(j, c, lostR[r]); result[A(o, j)] = result[A(o, j)] | BIT(c); o = 0 }

inline make_tables()
{
    d_step {
        x = 0;
        do
        :: x < 16 -> many[x] = (x & 1) + ((x >> 1) & 1) + ((x >> 2) & 1) + ((x >> 3) & 1); x++
        :: else -> break
        od;
        x = 0;
        do
        :: x <= SERVERS ->
            i = 0;
            do
            :: i < 4 ->
                if
                :: x == SERVERS -> own[x * 4 + i] = K
                :: else ->
                    o = i % (K - many[x]);  /* the o-th that is not lost */
                    own[x * 4 + i] = 0;
                    do
                    :: (x & BIT(own[x * 4 + i])) -> own[x * 4 + i] = own[x * 4 + i] + 1
                    :: else ->
                        if
                        :: o == 0 -> break
                        :: else -> o--; own[x * 4 + i] = own[x * 4 + i] + 1
                        fi
                    od
                fi;
                i++
            :: else -> break
            od;
            x++
        :: else -> break
        od;
        x = 0; i = 0; o = 0
    }
}

#define EXCUSED(j) (st[P(0, j)] == 0 || st[P(1, j)] == 0 || st[P(N - 1, j)] == 0 \
    || (!ACTIVE(0) && st[P(0, j)] == 1) || (!ACTIVE(1) && st[P(1, j)] == 1) || (!ACTIVE(N - 1) && st[P(N - 1, j)] == 1))
#ifdef IMPATIENT
#define OVER(r, j)  (st[P(r, j)] >= 2)
#else
#define OVER(r, j)  (st[P(r, j)] == 2)
#define IS_REFUSED(r, s)
#endif
#define COMPLETE(j) (OVER(0, j) && OVER(1, j) && OVER(N - 1, j))

/* When a rank has died, nobody waits for it, or for those who know. */
#ifdef RANKDEATHS
#define WAITS(r)   (!(died & BIT(r)) && (st[P(r, 0)] == 1 || st[P(r, OPS - 1)] == 1))
#define END_WELL   assert(died == 0 || !(WAITS(0) || WAITS(1) || WAITS(N - 1)))
#define NO_ERROR   assert(died != 0 || (out == 0 && failed == 0))
#define ENDS(j)    (died != 0 || EXCUSED(j) || COMPLETE(j))
#else
#define END_WELL   skip
#define NO_ERROR   skip
#define ENDS(j)    (EXCUSED(j) || COMPLETE(j))
#endif

init
{
    make_tables();
#ifdef RANKDEATHS
    d_step {
        i = 0;
        do :: i < K -> linked[i] = (FROM_BEGINNING & BIT(i) -> RANKS : 0); i++ :: else -> break od;
        i = 0
    }
    do :: rankdeaths > 0 -> rankdeaths-- :: break od;
#endif
    /* so much will happen, or less: otherwise what blocks would be waiting for the next death */
    do :: deaths > 0 -> deaths-- :: break od;
    do :: suspects > 0 -> suspects-- :: break od;
    do :: leaves > 0 -> leaves-- :: break od;
    do
    FOR_R(ISSUE)
    FOR_R(LEAVE)
    FOR_RJC(CONTRIBUTE)
    FOR_SJC(REDUCE)
    FOR_RJS(SEND_RESULT)
    FOR_RJC(TAKE)
    FOR_RJC(HALF)
    FOR_RJS(ACK)
    FOR_RJS(COMMIT)
    FOR_RJ(RETURN)
    FOR_R(RELEASE)
    FOR_R(DIE_RANK)
    FOR_R(PART)
    FOR_RS(OF_DEATH)
    FOR_RS(IS_REFUSED)
    FOR_RS(RETURNED)
    FOR_RS(SUSPECT)
    FOR_RS(TELL)
    FOR_RS(HEAR)
    FOR_RS(LATE)
    FOR_RS(JOIN_SERVER)
    FOR_RJS(SETTLED)
    FOR_S1(DIE, 0)
    FOR_SJ(SETTLE)
    FOR_RJS(SETTLE_DONE)
    FOR_RJC(SUPPLY)
    :: timeout ->
        d_step {
            END_WELL;
            NO_ERROR;
            assert(ENDS(0));
            assert(ENDS(OPS / 2));
            assert(ENDS(OPS - 1))
        };
        break
    od
}
