/** The worlds that the model is explored in, and the faults that are put into it. */

export interface World {
  readonly title: string
  /** `-D` of refresh.pml. */
  readonly of: readonly string[]
}

/** Each with every kind of service, unless it names one. */
export const worlds: readonly World[] = [
  { title: 'three processes and a crash', of: ['PROCESSES=3', 'CRASHES=1'] },
  { title: 'a crash, a pause, a lost answer and a sign-out', of: ['CRASHES=1', 'PAUSES=1', 'LOST=1', 'SIGN_OUTS=1'] },
  { title: 'two expiries and two lost answers', of: ['EXPIRIES=2', 'LOST=2'] },
  { title: 'a call of refresh() and a lost answer', of: ['ASKS=1', 'LOST=1'] },
  { title: 'a sign-in, a sign-out and a pause', of: ['SIGN_INS=1', 'SIGN_OUTS=1', 'PAUSES=1'] },
  { title: 'a store that loses something, and a sign-out', of: ['LOSSES=1', 'SIGN_OUTS=1'] },
  { title: 'a store that loses something, and a crash', of: ['LOSSES=1', 'CRASHES=1'] },
  { title: 'the option rotationGrace and two lost answers', of: ['ROTATION_GRACE=1', 'LOST=2', 'SERVICE=graceful'] },
  { title: 'two access tokens that the owner API refuses', of: ['REFUSALS=2'] },
  { title: 'a refused access token and a sign-out', of: ['REFUSALS=1', 'SIGN_OUTS=1'] },
]

/** Small, because looking for cycles costs more. */
export const worldsWithoutCycles: readonly World[] = [
  { title: 'a crash and a lost answer', of: ['CRASHES=1', 'LOST=1', 'SERVICE=strict'] },
  { title: 'a refused access token', of: ['REFUSALS=1', 'SERVICE=strict'] },
]

export interface Fault extends World {
  /** What SPIN must say. */
  readonly harm: string
}

export const faults: readonly Fault[] = [
  { title: 'no intent is swapped in', of: ['NO_INTENT'], harm: 'one_expiry_was_two_requests' },
  {
    title: 'the intent is written whatever stands there',
    of: ['INTENT_NOT_BY_SWAP'],
    harm: 'one_expiry_was_two_requests',
  },
  {
    title: 'a refresh when the wait runs out',
    of: ['REFRESH_WHEN_THE_WAIT_RUNS_OUT'],
    harm: 'one_expiry_was_two_requests',
  },
  { title: 'no send guard', of: ['NO_SEND_GUARD', 'PAUSES=1'], harm: 'one_expiry_was_two_requests' },
  {
    title: 'a replay at once while in doubt',
    of: ['REPLAY_AT_ONCE', 'LOST=1'],
    harm: 'replayed_while_the_access_token_works',
  },
  {
    title: 'a result only over the very version it was derived from',
    of: ['COMMIT_BY_VERSION', 'PAUSES=1'],
    harm: 'late_success_lost',
  },
  { title: 'a blind save after a sign-out', of: ['BLIND_SAVE', 'SIGN_OUTS=1'], harm: 'sign_out_undone' },
  { title: 'a blind save after a sign-in', of: ['BLIND_SAVE', 'SIGN_INS=1'], harm: 'sign_in_overwritten' },
  { title: 'a sign-out that leaves no tombstone', of: ['SIGN_OUT_DELETES', 'SIGN_OUTS=1'], harm: 'sign_out_undone' },
  { title: 'an intent that never dies', of: ['INTENT_NEVER_DIES', 'CRASHES=1'], harm: 'invalid end state' },
  { title: 'nothing is put back', of: ['NO_RESTORATION', 'LOSSES=1'], harm: 'late_success_lost' },
  { title: 'what is put back is not in doubt', of: ['RESTORED_WITHOUT_DOUBT', 'LOSSES=1'], harm: 'older_token_spent' },
  { title: 'the predecessor is not kept', of: ['PREDECESSOR_NOT_KEPT', 'REFUSALS=1'], harm: 'working_token_given_up' },
  {
    title: 'the predecessor is served out of memory, after a sign-out',
    of: ['PREDECESSOR_FROM_MEMORY', 'REFUSALS=1', 'SIGN_OUTS=1', 'SERVICE=strict'],
    harm: 'predecessor_served_after_sign_out',
  },
  {
    title: 'the predecessor is kept through a sign-in',
    of: ['SIGN_IN_KEEPS_PREDECESSOR', 'REFUSALS=1', 'SIGN_INS=1', 'SERVICE=strict'],
    harm: 'predecessor_served_after_sign_out',
  },
]
