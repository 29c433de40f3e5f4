/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the model of the reserve that groups share (server/aggregator/reserve.c): can all that have memory wait
 * for each other? Two communicators with two teams, each step of which is on one of two aggregators.
 * All ranks have begun everything, in whatever order. An aggregator has memory for one step, and
 * a reserve for one more.
 *
 * A host gives a step when there is room in its ring, that is when the step DEPTH places before it, and
 * all before that, are over. With RULE 1 the reserve is lent only to a step whose contributions are
 * all here. RULE 0 lends it to any that waits, as if all ranks having begun were enough: the search
 * finds that they then wait for ever (an invalid end state).
 */
#ifndef RULE
#define RULE 1
#endif
#define COMMS 2
#define TEAMS 2
#define AGGREGATORS 2
#define STEPS 6
#define DEPTH 2

#define AT(comm, step) ((comm) * STEPS + (step))
#define AGGREGATOR(comm, step) (((step) / TEAMS + (comm)) % AGGREGATORS)
/* the contributions of all hosts are on their way */
#define SENT(comm, step) ((step) < lowest[comm] + DEPTH)
/* chunks of a team get memory in their order */
#define IN_TURN(comm, step) ((step) < TEAMS || state[AT(comm, (step) - TEAMS)] != 0)

/* 0: has no memory; 1: has some; 2: has the reserve; 3: is over */
byte state[COMMS * STEPS];
byte lowest[COMMS];            /* step that is not over */
bool used[AGGREGATORS], lent[AGGREGATORS];
byte over;

inline finish(c, s)
{
    if
    :: state[AT(c, s)] == 1 -> used[AGGREGATOR(c, s)] = false
    :: state[AT(c, s)] == 2 -> lent[AGGREGATOR(c, s)] = false
    fi;
    state[AT(c, s)] = 3;
    over++;
    do
    :: lowest[c] < STEPS && state[AT(c, lowest[c])] == 3 -> lowest[c]++
    :: else -> break
    od
}

/* Whatever is possible for this step, or nothing. */
proctype step(byte c; byte s)
{
    if
    :: atomic { IN_TURN(c, s) && !used[AGGREGATOR(c, s)] ->
                used[AGGREGATOR(c, s)] = true; state[AT(c, s)] = 1 }
    :: atomic { IN_TURN(c, s) && !lent[AGGREGATOR(c, s)] && (RULE == 0 || SENT(c, s)) ->
                lent[AGGREGATOR(c, s)] = true; state[AT(c, s)] = 2 }
    fi;
    atomic { SENT(c, s) -> finish(c, s) }
}

init {
    byte c = 0, s;

    atomic {
        do
        :: c < COMMS ->
            s = 0;
            do
            :: s < STEPS -> run step(c, s); s++
            :: else -> break
            od;
            c++
        :: else -> break
        od
    }
    over == COMMS * STEPS
}
