/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the model of the horizons of a large vector (client/collective/large_flat.c): can ranks wait for each other
 * because they do not look at them for each result? Two ranks, two lanes to servers and two to peers, whose chunks
 * alternate. A chunk has its results when both ranks have sent it, and each rank takes them when it will, on each
 * lane in order.
 *
 * A rank looks when PAUSE results have come since it did, or no more than a window is in flight: with RULE 1 of a side
 * that has chunks without a result, with RULE 0 of both sides together. The search finds that with RULE 0 they then
 * wait for ever (an invalid end state), each for a chunk that the other has not sent, with others in flight.
 */
#ifndef RULE
#define RULE 1
#endif
#ifndef PAUSE
#define PAUSE 3
#endif
#define LANES  4
#define CHUNKS 5               /* of a lane */
#define WINDOW 1               /* chunks in flight on a lane */
#define SPAN   4

#define AT(rank, lane)     ((rank) * LANES + (lane))
#define SIDE(lane)         ((lane) / 2)  /* 0: servers */
#define OF(rank, side)     ((rank) * 2 + (side))
#define PLACE(lane, chunk) ((chunk) * LANES + (lane))
#define IN_FLIGHT(rank, side) \
    (sent[AT(rank, 2 * (side))] - got[AT(rank, 2 * (side))] \
     + sent[AT(rank, 2 * (side) + 1)] - got[AT(rank, 2 * (side) + 1)])
#define AWAITS(rank, side) \
    (got[AT(rank, 2 * (side))] < CHUNKS || got[AT(rank, 2 * (side) + 1)] < CHUNKS)
#define FEW(rank, side) (AWAITS(rank, side) && IN_FLIGHT(rank, side) <= WINDOW)
#define MAY_GO(rank, lane) \
    (sent[AT(rank, lane)] < CHUNKS && sent[AT(rank, lane)] - got[AT(rank, lane)] < WINDOW \
     && PLACE(lane, sent[AT(rank, lane)]) < horizon[OF(rank, SIDE(lane))])
#define TIME_TO_LOOK(rank) \
    (news[rank] >= PAUSE || (RULE == 1 && (FEW(rank, 0) || FEW(rank, 1))) \
     || (RULE == 0 && IN_FLIGHT(rank, 0) + IN_FLIGHT(rank, 1) <= WINDOW))
#define IS_HERE(rank, lane) \
    (got[AT(rank, lane)] < sent[AT(0, lane)] && got[AT(rank, lane)] < sent[AT(1, lane)])

byte sent[2 * LANES], got[2 * LANES];
byte horizon[4];
byte news[2];

inline go_on(r, l)
{
    do
    :: MAY_GO(r, l) -> sent[AT(r, l)]++
    :: else -> break
    od
}

inline go_on_all(r)
{
    i = 0;
    do
    :: i < LANES -> go_on(r, i); i++
    :: else -> break
    od
}

/* The horizon of servers counts their chunks, that of peers all. */
inline look(r)
{
    first[0] = 255;
    first[1] = 255;
    i = 0;
    do
    :: i < LANES ->
        if
        :: got[AT(r, i)] < CHUNKS && PLACE(i, got[AT(r, i)]) < first[1] -> first[1] = PLACE(i, got[AT(r, i)])
        :: else -> skip
        fi;
        if
        :: SIDE(i) == 0 && got[AT(r, i)] < CHUNKS && PLACE(i, got[AT(r, i)]) < first[0] ->
            first[0] = PLACE(i, got[AT(r, i)])
        :: else -> skip
        fi;
        i++
    :: else -> break
    od;
    if
    :: first[0] != 255 -> horizon[OF(r, 0)] = first[0] + SPAN
    :: else -> skip
    fi;
    if
    :: first[1] != 255 -> horizon[OF(r, 1)] = first[1] + SPAN
    :: else -> skip
    fi;
    news[r] = 0;
    go_on_all(r)
}

/* A result of this lane. */
inline take(r, l)
{
    got[AT(r, l)]++;
    news[r]++;
    go_on(r, l);
    if
    :: TIME_TO_LOOK(r) -> look(r)
    :: else -> skip
    fi
}

proctype rank(byte r)
{
    byte i, first[2];

    atomic {
        horizon[OF(r, 0)] = SPAN;
        horizon[OF(r, 1)] = SPAN;
        go_on_all(r)
    }
    do
    :: atomic { IS_HERE(r, 0) -> take(r, 0) }
    :: atomic { IS_HERE(r, 1) -> take(r, 1) }
    :: atomic { IS_HERE(r, 2) -> take(r, 2) }
    :: atomic { IS_HERE(r, 3) -> take(r, 3) }
    :: !AWAITS(r, 0) && !AWAITS(r, 1) -> break
    od
}

init {
    atomic {
        run rank(0);
        run rank(1)
    }
}
