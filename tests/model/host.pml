/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the model of what the ranks of a host do together when a server is lost (node/ring.h, client/collective/node.c):
 * they stop, each reads the results that owners have published, all leave what was, and the stream of steps begins anew.
 *
 * Members give steps in order, each into its own places; the owner of a step receives its result when all have given it,
 * as long as it has not stopped, and the others take it in order. Losses come at any time, and members hear of them when
 * they will, also of two at once. Checked are that what is read from a place is the result of that step, that a member
 * which begins anew has every result that an owner had, as other hosts may have heard and returned, and that all get to
 * the end of the last epoch.
 *
 * ORDER: results that were published behind one that was lost are not read; wrong. EARLY: a member begins anew when it
 * has left itself; wrong. NOLEAVE: it does when all have stopped; wrong.
 */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef LOSSES
#define LOSSES 2
#endif
#ifndef STEPS
#define STEPS 3                /* of an epoch, at most */
#endif
#define PLACES 2
#define TOTAL  (STEPS * (LOSSES + 1) + 1)

#define AT(m, s)    ((m) * TOTAL + (s))
#define PLACE(m, s) ((m) * PLACES + (s) % PLACES)
#define OWNER(s)    ((s) % MEMBERS)

byte epoch;                    /* of the job: losses so far */
byte heard[MEMBERS], stopped[MEMBERS], left[MEMBERS], reached[MEMBERS], is_in[MEMBERS];
byte given[MEMBERS], taken[MEMBERS], first[MEMBERS];
byte content[MEMBERS * PLACES];   /* 1 + the step whose result is there; 0: a contribution */
byte published[MEMBERS * PLACES]; /* 1 + the step */
bool have[MEMBERS * TOTAL];
bool acked[TOTAL];             /* the owner has told other hosts that the result is here */

/* Of all members. */
#if MEMBERS == 2
#define ALL(condition) (condition(0) && condition(1))
#else
#define ALL(condition) (condition(0) && condition(1) && condition(2))
#endif

#define HAS_STOPPED(m) (stopped[m] == heard[me])
#define HAS_LEFT(m)    (left[m] == heard[me])
#define HAS_TAKEN(m)   (taken[m] + PLACES > given[me])

/* A place is free when its step was taken, by all if it was this member's. */
#define HAS_ROOM (given[me] < PLACES || (HAS_TAKEN(me) && (OWNER(given[me] - PLACES) != me || ALL(HAS_TAKEN))))

#if defined(EARLY)
#define MAY_BEGIN (left[me] == heard[me])
#elif defined(NOLEAVE)
#define MAY_BEGIN ALL(HAS_STOPPED)
#else
#define MAY_BEGIN ALL(HAS_LEFT)
#endif
#define HAVE_GIVEN(m)  (given[m] > taken[me])
#define HAVE_GIVEN_MORE(m) (given[m] > taken[me] + 1)
#define IS_MINE(s)     (OWNER(s) == me && published[PLACE(me, s)] != (s) + 1)
#define IS_NEXT_PUBLISHED (published[PLACE(OWNER(taken[me]), taken[me])] == taken[me] + 1)

inline publish(s)
{
    content[PLACE(me, s)] = s + 1;
    published[PLACE(me, s)] = s + 1;
    acked[s] = true
}

inline read_result(s)
{
    assert(content[PLACE(OWNER(s), s)] == s + 1);
    have[AT(me, s)] = true
}

/* What others have published, of steps that this member has given and not taken. */
inline read_all()
{
    s = taken[me];
    do
    :: s < given[me] && published[PLACE(OWNER(s), s)] == s + 1 -> read_result(s); s++
#ifdef ORDER
    :: s < given[me] && published[PLACE(OWNER(s), s)] != s + 1 -> break
#else
    :: s < given[me] && published[PLACE(OWNER(s), s)] != s + 1 -> s++
#endif
    :: s >= given[me] -> break
    od
}

inline begin_anew()
{
    start = 0;
    i = 0;
    do
    :: i < MEMBERS -> start = (reached[i] > start -> reached[i] : start); i++
    :: else -> break
    od;
    s = 0;
    do
    :: s < start -> assert(!acked[s] || have[AT(me, s)]); s++
    :: else -> break
    od;
    given[me] = start;
    taken[me] = start;
    first[me] = start;
    is_in[me] = heard[me]
}

proctype member(byte me)
{
    byte i, s, start;

    do
    /* the network is there: steps go on */
    :: atomic { is_in[me] == heard[me] && given[me] < first[me] + STEPS && given[me] < TOTAL && HAS_ROOM ->
           content[PLACE(me, given[me])] = 0;
           given[me]++ }
    /* results come, in any order */
    :: atomic { is_in[me] == heard[me] && IS_MINE(taken[me]) && ALL(HAVE_GIVEN) -> publish(taken[me]) }
    :: atomic { is_in[me] == heard[me] && IS_MINE(taken[me] + 1) && ALL(HAVE_GIVEN_MORE) -> publish(taken[me] + 1) }
    :: atomic { is_in[me] == heard[me] && taken[me] < given[me] && IS_NEXT_PUBLISHED ->
           read_result(taken[me]);
           taken[me]++ }
    /* a server is lost */
    :: atomic { heard[me] < epoch ->
           heard[me] = epoch;
           stopped[me] = epoch }
    :: atomic { is_in[me] != heard[me] && left[me] != heard[me] && ALL(HAS_STOPPED) ->
           read_all();
           reached[me] = given[me];
           left[me] = heard[me] }
    :: atomic { is_in[me] != heard[me] && left[me] == heard[me] && MAY_BEGIN -> begin_anew() }
    :: is_in[me] == LOSSES && taken[me] == first[me] + STEPS -> break
    od
}

active proctype losses()
{
    do
    :: epoch < LOSSES -> epoch++
    :: epoch == LOSSES -> break
    od
}

init
{
    byte m = 0;

    atomic {
        do
        :: m < MEMBERS -> run member(m); m++
        :: else -> break
        od
    }
}
