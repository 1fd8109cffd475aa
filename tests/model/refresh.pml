/*
 * The refresh protocol of docs/internals/refresh-protocol.md once more, written from the words of that page and not from the code, and small
 * enough that SPIN looks at every order of things: some processes share the record of one account. README.md says what is
 * claimed, and for which worlds.
 *
 * Begin with `Process`: it makes one call of getAccessToken after the other. A comment in quotes names the page's sentence in short.
 *
 * A token set is a number, in the order of issue, and so are its access token and its refresh token; 0 is none.
 */

/* The world: how many processes there are, and how often each thing may happen (-DCRASHES=1 and so on). */
#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef EXPIRIES /* an access token begins to age, and some time later ends */
#define EXPIRIES 1
#endif
#ifndef CRASHES /* a process ends, between any two steps */
#define CRASHES 0
#endif
#ifndef PAUSES /* a holder is stopped for longer than its intent lives */
#define PAUSES 0
#endif
#ifndef LOST /* a request or its answer is lost */
#define LOST 0
#endif
#ifndef ASKS /* somebody calls refresh() */
#define ASKS 0
#endif
#ifndef SIGN_INS
#define SIGN_INS 0
#endif
#ifndef SIGN_OUTS
#define SIGN_OUTS 0
#endif
#ifndef LOSSES /* the store is emptied, or goes back to what it was at some moment */
#define LOSSES 0
#endif
#ifndef REFUSALS /* the owner API refuses the access token that is handed out */
#define REFUSALS 0
#endif
#ifndef ROTATION_GRACE /* the option rotationGrace is set */
#define ROTATION_GRACE 0
#endif

#define SETS (3 + EXPIRIES + 2 * LOST + CRASHES + PAUSES + ASKS + SIGN_INS + 2 * LOSSES + REFUSALS)

mtype = { signedIn, signInAgain, signedOut };           /* the state of a record */
mtype = { fresh, ageing, ended };                       /* an access token */
mtype = { strict, family, graceful, fixed };            /* a service, by what it does with a refresh token that was sent before */
mtype = { gotTokens, gotRefusal, gotNothing, notSent }; /* what a request came to */

typedef Record {
  byte write;      /* names the write that put it there, no two have one name; 0: nothing is stored */
  mtype state;
  byte session;    /* the sign-in or sign-out */
  byte set;        /* the newest token set: its refresh token is the lineage */
  byte access;     /* whose access token is handed out: that of the newest set, or its predecessor again */
  byte before;     /* the predecessor, which is kept until the owner API has accepted the newest */
  byte holder;     /* the intent: whose it is; 0: there is none */
  bool answerLost; /* in the intent: nobody waits for the answer any more */
  bool restored    /* in the intent: no request, but a memory that was put back */
}

Record store;
Record memory[PROCESSES + 1]; /* what each process knows of it */
#define my memory[me]
byte writes, sessions, issued;
byte replaces[2 + SIGN_INS + SIGN_OUTS]; /* the sign-ins and sign-outs that each was made over, a bit each */

byte up;                         /* the processes that run, a bit each */
byte awake;                      /* those that were not stopped for too long */
byte holding;                    /* those that have swapped an intent in and not concluded yet */
byte looked;                     /* those that have read the record since somebody put it back */
#define theCurrentOne 255
byte asked[PROCESSES + 1];       /* the access token in whose place refresh() wants another; it reads first which one is current */
byte underWay[PROCESSES + 1];    /* the set whose refresh token was sent and not yet concluded */
byte received[PROCESSES + 1];    /* the last set that an answer brought */

/* The service and the owner API. */
mtype service;
mtype age[SETS];
byte sessionOf[SETS];
byte lineage[SETS];   /* its refresh token, by the first set that had it: a service that does not rotate keeps it */
byte successor[SETS]; /* what its refresh token was spent for */
bool revoked[SETS];
bool refused[SETS];   /* by the owner API */

/* How often each thing has happened. */
byte expiries, crashes, pauses, lost, asks, signIns, signOuts, losses, refusals;

/* The judge's notes. A claim is that a harm never happens; SPIN tells the harm by its name. */
byte sends[SETS], excuses[SETS]; /* each lost answer, dead holder or lost store excuses one more request */
byte person;                     /* the newest sign-in or sign-out */
bool personIsOut, storeLost;
byte keptBack;                   /* the predecessor that must still be there */
byte putBack;                    /* the write by which a memory was put back */
bool one_expiry_was_two_requests, replayed_while_the_access_token_works, working_tokens_were_refused, late_success_lost;
bool sign_out_undone, sign_in_overwritten, older_token_spent, predecessor_served_after_sign_out, working_token_given_up;
#define harm(which) which = true; assert(!(which))

#define bit(number) (1 << (number))
#define isUp(process) ((up & bit(process)) != 0)
#define isAwake(process) ((awake & bit(process)) != 0)
#define isHolding(process) ((holding & bit(process)) != 0)

inline copy(to, from) {
  to.write = from.write; to.state = from.state; to.session = from.session; to.set = from.set; to.access = from.access;
  to.before = from.before; to.holder = from.holder; to.answerLost = from.answerLost; to.restored = from.restored
}

inline takeIntentOut() { store.holder = 0; store.answerLost = false; store.restored = false }

/* Where a run of the real manager is followed (trace.pml), these steps are compared with its own. */
#ifndef observe
#define observe(who, what, detail) skip
#endif

/* ---- The rules ---- */

/* "How long an intent lives": until its holder gives up, is dead, or was stopped for too long. No other takes that long: so the
   clocks are left out. What was put back lives until every process that is there has looked. */
#ifdef INTENT_NEVER_DIES
#define isAlive (my.holder != 0)
#else
#define isAlive (my.holder != 0 && !my.answerLost && (my.restored -> (awake & ~looked) != 0 : isAwake(my.holder) && isHolding(my.holder)))
#endif

#define works(token) (token != 0 && age[token] != ended && !refused[token])
#define isUnwanted (asked[me] == my.access || refused[my.access])

/* A refresh is due: the access token ages, has ended, was refused, or somebody asks for another. One whose successor was refused
   serves to its end. */
#define isDue (my.state == signedIn && (isUnwanted || age[my.access] == ended || (age[my.access] == ageing && my.access == my.set)))

/* "In doubt", the request is replayed once the access token has ended, the owner API refused it or somebody calls refresh(). "With
   the option rotationGrace the process that lost the answer replays once at once." */
#ifdef REPLAY_AT_ONCE
#define isReplayDue true
#else
#define isReplayDue (isUnwanted || age[my.access] == ended || lostHere == my.set)
#endif

/* "Watch the record … never an unguarded request." */
#ifdef REFRESH_WHEN_THE_WAIT_RUNS_OUT
#define maySend (isDue && (my.holder == 0 || isAlive || isReplayDue))
#else
#define maySend (isDue && (my.holder == 0 || (!isAlive && isReplayDue)))
#endif

/* "The lineage rule": the result of a refresh may replace any record that still holds the refresh token it was derived from. A
   late one that brings no other refresh token replaces nothing newer. */
#define isByLineage(result) (store.write != 0 && store.state != signedOut \
  && lineage[store.set] == lineage[sent] && (lineage[result] != lineage[sent] || store.set <= sent))
#if defined(BLIND_SAVE)
#define mayReplace(result) true
#elif defined(COMMIT_BY_VERSION)
#define mayReplace(result) (store.write == my.write)
#else
#define mayReplace(result) (isByLineage(result) || isBehind)
#endif

/* "What is newer? Ancestry decides": the store has lost what this process knows. */
#define isBehind (my.write != 0 && (store.write == 0 || (store.session != my.session \
  -> (replaces[my.session] & bit(store.session)) != 0 \
  : store.set < my.set || (store.set == my.set && store.state == signedIn && store.write < my.write \
    && (my.state == signInAgain || (my.holder != 0 && store.holder == 0))))))

/* The predecessor becomes the current one again, where the newest access token is refused. */
#define fallsBack (my.state == signedIn && refused[my.access] && works(my.before))

/* A process may rest: it has a token that works, or was told that somebody has to sign in. */
#define isServed (my.state != signedIn || works(my.access))
#define hasNews (store.write != my.write || asked[me] == theCurrentOne || maySend || fallsBack)

/* ---- The store ---- */

/* A process has just swapped `store`: the judge looks whether that was its to change. */
inline swapped() {
  writes++;
  store.write = writes;
  if
  :: storeLost || store.session == person -> skip
  :: else -> if :: personIsOut -> harm(sign_out_undone) :: else -> harm(sign_in_overwritten) fi
  fi;
  copy(my, store)
}

inline look() {
  if
#ifndef NO_RESTORATION
  :: isBehind -> /* "A process that looks and knows better puts its record back, with an intent that says `restored`." */
     copy(store, my);
     if
     :: store.state == signedIn ->
#ifdef RESTORED_WITHOUT_DOUBT
        takeIntentOut()
#else
        store.holder = me; store.answerLost = false; store.restored = true
#endif
     :: else -> skip
     fi;
     swapped();
     looked = 0;
     putBack = writes
#endif
  :: else ->
     if :: store.write != my.write -> observe(me, aRead, store.write) :: else -> skip fi;
     copy(my, store)
  fi;
  if
  :: asked[me] == theCurrentOne -> asked[me] = my.access
  :: asked[me] != my.access && asked[me] != theCurrentOne -> asked[me] = 0
  :: else -> skip
  fi;
  looked = looked | bit(me);
  awake = awake | bit(me)
}

/* ---- The service ---- */

inline issue(ofSession) {
  issued++;
  age[issued] = fresh; lineage[issued] = issued; sessionOf[issued] = ofSession
}

/* The refresh token of the set `sent` arrives. */
inline answer() {
  if
  :: !revoked[sent] && successor[sent] == 0 ->
     issue(sessionOf[sent]);
     next = issued; outcome = gotTokens;
     if :: service == fixed -> lineage[next] = lineage[sent] :: else -> successor[sent] = next fi
  :: service == graceful && successor[sent] != 0 && successor[successor[sent]] == 0 -> /* in its grace it repeats its answer */
     next = successor[sent]; outcome = gotTokens
  :: revoked[sent] || successor[sent] != 0 -> /* spent, and its grace is over */
     outcome = gotRefusal;
     if
     :: service == family ->
        for (set : 1 .. issued) { if :: sessionOf[set] == sessionOf[sent] -> revoked[set] = true :: else -> skip fi };
        set = 0
     :: else -> skip
     fi
  fi
}

/* Before it is sent. */
inline judgeRequest() {
  if
  :: sends[sent] > excuses[sent] -> harm(one_expiry_was_two_requests)
  :: sends[sent] > 0 && !storeLost && !isUnwanted && age[my.access] != ended && lostHere != sent ->
     harm(replayed_while_the_access_token_works)
  :: else -> skip
  fi;
  for (other : 1 .. PROCESSES) {
    if
    :: isPutBack && losses == 1 && isAwake(other) && memory[other].session == my.session && memory[other].set > sent ->
       harm(older_token_spent)
    :: else -> skip
    fi
  }
  other = 0;
  sends[sent]++
}

/* ---- A process ---- */

proctype Process(byte me) {
  byte sent, next, lostHere, set, other;
  mtype outcome;
  bool isReplay, isPutBack;
  {
    true;
rest: /* Until somebody asks, and hears something new. */
    if
    :: isServed -> goto end_served
    :: !isServed -> goto waiting
    fi;
end_served:
    if
    :: hasNews -> skip
    :: !isServed -> goto waiting
    fi;
    goto read;
waiting: /* for a token: nobody stays here for ever */
    hasNews;

read: /* 1. "Read the record." 2., 3. and 4.: what follows from it. */
    atomic {
      look();
      if
      :: fallsBack -> skip
      :: !fallsBack && maySend ->
         if :: refused[my.access] && works(keptBack) && asked[me] != my.access -> harm(working_token_given_up) :: else -> skip fi;
         isReplay = my.holder != 0; isPutBack = my.write == putBack;
         goto hold
      :: else -> goto rest
      fi
    };

    /* Reported as refused by the owner API: its predecessor is current again, for all processes. */
    atomic {
      if
#ifdef PREDECESSOR_FROM_MEMORY
      :: true -> my.access = my.before; my.before = 0
#else
      :: store.write == my.write -> store.access = store.before; store.before = 0; swapped(); observe(me, aFallBack, writes)
      :: else -> goto read
#endif
      fi;
      keptBack = 0;
      if :: !storeLost && (my.session != person || sessionOf[my.access] != person) -> harm(predecessor_served_after_sign_out) :: else -> skip fi;
      goto rest
    };

hold: /* 6. "Swap the intent in. A conflict: read again." */
    atomic {
      if
#if defined(NO_INTENT)
      :: true -> skip
#elif defined(INTENT_NOT_BY_SWAP)
      :: true -> copy(store, my); store.holder = me; swapped()
#else
      :: store.write == my.write ->
         store.holder = me; store.answerLost = false; store.restored = false;
         swapped();
         observe(me, anIntent, writes)
      :: store.write != my.write ->
         isReplay = false; isPutBack = false;
         if
         :: true -> observe(me, aConflict, 0)
         :: true -> skip /* another call of this process has seen it before */
         fi;
         goto read
#endif
      fi;
      awake = awake | bit(me); holding = holding | bit(me);
      sent = my.set
    };

    /* "One POST, never repeated", by "the send guard". */
    atomic {
      if
#ifdef NO_SEND_GUARD
      :: true ->
#else
      :: !isAwake(me) -> outcome = notSent
      :: else ->
#endif
         observe(me, aRequest, sent);
         judgeRequest();
         lostHere = 0; isPutBack = false;
         underWay[me] = sent;
         if
         :: true -> answer()
         :: lost < LOST -> lost++; outcome = gotNothing /* on its way there */
         fi
      fi
    };
    atomic {
      if
      :: true -> skip
      :: lost < LOST && outcome != gotNothing && outcome != notSent -> lost++; outcome = gotNothing; next = 0 /* on its way back */
      fi;
      if :: outcome == gotNothing && isAwake(me) -> excuses[sent]++ :: else -> skip fi;
      if :: outcome == gotRefusal && sends[sent] == 1 && !revoked[sent] -> harm(working_tokens_were_refused) :: else -> skip fi;
      if
      :: outcome == gotTokens -> received[me] = next; observe(me, anAnswer, next)
      :: outcome == gotRefusal -> observe(me, aRefusal, sent)
      :: else -> skip
      fi
    };

    /* 7. "What it comes to." */
    atomic {
      if
      :: outcome == gotTokens && mayReplace(next) -> /* "committed by lineage", over a store that lost it as well */
         if :: isByLineage(next) -> skip :: else -> copy(store, my) fi;
         if
         :: works(store.access) -> store.before = store.access
         :: !works(store.access) && !works(store.before) -> store.before = 0
         :: else -> skip
         fi;
         keptBack = store.before;
#ifdef PREDECESSOR_NOT_KEPT
         store.before = 0;
#endif
         store.state = signedIn; store.set = next; store.access = next;
         takeIntentOut();
         swapped();
         observe(me, newTokens, writes)
      :: outcome == gotRefusal && mayReplace(sent) -> /* "`reauthentication-required`, by lineage" */
         if :: isByLineage(sent) -> skip :: else -> copy(store, my) fi;
         store.state = signInAgain;
         takeIntentOut();
         swapped();
         observe(me, anEnd, writes)
      :: (outcome == gotNothing || (outcome == notSent && isReplay)) && store.write == my.write ->
         store.answerLost = true; /* "the intent stays and says `answerLost`"; after a replay that was not sent, as before */
         swapped();
         observe(me, aDoubt, writes)
      :: outcome == notSent && !isReplay && store.write == my.write -> /* "the intent goes out" */
         takeIntentOut();
         swapped();
         observe(me, noIntent, writes)
      :: (outcome == gotTokens && !mayReplace(next)) || (outcome == gotRefusal && !mayReplace(sent)) ->
         look() /* a sign-in, a sign-out or another's result stands there */
      :: else -> skip
      fi;
      if :: ROTATION_GRACE && outcome == gotNothing && !isReplay -> lostHere = sent :: else -> skip fi;
      holding = holding & ~bit(me); underWay[me] = 0; sent = 0; next = 0; outcome = 0; isReplay = false; isPutBack = false;
      goto rest
    }
  } unless { !isUp(me) }
}

/* ---- What happens to them ---- */

/* An access token that begins to age ends. */
proctype Clock() {
end:
  do
  :: atomic { expiries < EXPIRIES && age[store.access] == fresh -> expiries++; age[store.access] = ageing }
  :: atomic { age[store.access] == ageing -> age[store.access] = ended }
  :: atomic { age[store.before] == ageing -> age[store.before] = ended }
  od
}

#if LOSSES > 0
Record replica; /* the store as it was at some moment, or empty */
#endif

proctype World() {
  byte which;
  do
  /* Owners give way to nobody: they swap until it is there. */
  :: atomic {
       signIns < SIGN_INS ->
       signIns++; sessions++; issue(sessions);
       replaces[sessions] = replaces[store.session] | (store.write != 0 -> bit(store.session) : 0);
       person = sessions; personIsOut = false; keptBack = 0;
       store.state = signedIn; store.session = sessions; store.set = issued; store.access = issued;
#ifndef SIGN_IN_KEEPS_PREDECESSOR
       store.before = 0;
#endif
       takeIntentOut();
       writes++; store.write = writes;
       observe(0, aSignIn, writes)
     }
  :: atomic {
       signOuts < SIGN_OUTS && store.write != 0 ->
       signOuts++; sessions++;
       replaces[sessions] = replaces[store.session] | bit(store.session);
       person = sessions; personIsOut = true; keptBack = 0;
       store.state = signedOut; store.session = sessions; store.set = 0; store.access = 0; store.before = 0; /* "a tombstone" */
       takeIntentOut();
       writes++; store.write = writes;
#ifdef SIGN_OUT_DELETES
       store.write = 0;
#endif
       observe(0, aSignOut, writes)
     }
#if CRASHES > 0
  :: atomic {
       crashes < CRASHES ->
       crashes++;
       select(which : 1 .. PROCESSES);
       if :: underWay[which] != 0 && isAwake(which) -> excuses[underWay[which]]++ :: else -> skip fi;
       observe(which, aCrash, 0);
       up = up & ~bit(which); awake = awake & ~bit(which); holding = holding & ~bit(which); asked[which] = 0;
       which = 0
     }
#endif
#if PAUSES > 0
  :: atomic {
       pauses < PAUSES && store.holder != 0 && isAwake(store.holder) && isHolding(store.holder) ->
       pauses++;
       if :: underWay[store.holder] != 0 -> excuses[underWay[store.holder]]++ :: else -> skip fi;
       observe(store.holder, aPause, 0);
       awake = awake & ~bit(store.holder)
     }
#endif
#if ASKS > 0
  :: atomic {
       asks < ASKS ->
       asks++;
       select(which : 1 .. PROCESSES);
       if :: isUp(which) -> asked[which] = theCurrentOne :: else -> skip fi;
       observe(which, anAsk, 0);
       which = 0
     }
#endif
#if REFUSALS > 0
  :: atomic { refusals < REFUSALS && works(store.access) -> refusals++; refused[store.access] = true }
  :: atomic { /* Accepted: the predecessor is not needed any more. */
       store.before != 0 && works(store.access) -> store.before = 0; keptBack = 0; writes++; store.write = writes
     }
#endif
#if LOSSES > 0
  :: atomic { losses < LOSSES && replica.write == 0 && store.write != 0 -> copy(replica, store) }
  :: atomic {
       losses < LOSSES ->
       losses++; storeLost = true; keptBack = 0;
       copy(store, replica);
       for (which : 1 .. issued) { excuses[which]++ };
       which = 0
     }
#endif
  :: break
  od
}

/* When nothing more happens. */
proctype Judge() {
  byte which;
  timeout ->
  for (which : 1 .. PROCESSES) {
    if
    :: isUp(which) && store.state == signInAgain && received[which] != 0 && !revoked[received[which]] &&
       successor[store.set] == received[which] -> harm(late_success_lost)
    :: isUp(which) && memory[which].session == person && store.session != person ->
       if :: personIsOut -> harm(sign_out_undone) :: else -> harm(sign_in_overwritten) fi
    :: else -> skip
    fi
  }
}

init {
  byte id;
  atomic {
#ifdef SERVICE
    service = SERVICE;
#else
    if :: service = strict :: service = family :: service = graceful :: service = fixed fi;
#endif
    sessions = 1; issue(1); person = 1; writes = 1;
    store.write = 1; store.state = signedIn; store.session = 1; store.set = 1; store.access = 1;
    observe(0, aSignIn, 1);
    up = bit(PROCESSES + 1) - 2; awake = up;
    for (id : 1 .. PROCESSES) { run Process(id) };
    id = 0;
    run Clock(); run World(); run Judge()
  }
}
