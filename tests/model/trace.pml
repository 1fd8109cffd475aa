/*
 * Follows a run of the real manager through the model: SPIN looks whether the model can take the same observable steps in the same
 * order. What cannot be seen from outside, such as an access token that ages or an answer that is lost, may happen in between.
 *
 * The steps stand in a file that follow.c reads, so that one program follows any run. It finds the end of the claim below where the
 * model allows the run.
 */
#define PROCESSES 3
#define EXPIRIES 3
#define LOST 3
#define ASKS 9
#define CRASHES 1
#define PAUSES 3
#define SIGN_INS 2
#define SIGN_OUTS 2
#define REFUSALS 2
#define SERVICE strict

c_decl { int next_step(int, int, int, int); }

byte at, who_, what_, detail_;
byte path; /* 0: along the run so far, 1: astray, 2: at its end */
#define observe(who, what, detail) \
  who_ = who; what_ = what; detail_ = detail; \
  c_code { now.path = next_step(now.at, now.who_, now.what_, now.detail_); }; \
  at++; who_ = 0; what_ = 0; detail_ = 0

/* The steps, in the order of `steps` in test/recorded-run.ts. */
#define aSignIn 0
#define aSignOut 1
#define aRead 2
#define anIntent 3
#define aConflict 4
#define aRequest 5
#define anAnswer 6
#define aRefusal 7
#define newTokens 8
#define anEnd 9
#define aDoubt 10
#define noIntent 11
#define anAsk 12
#define aCrash 13
#define aPause 14
#define aFallBack 15

#include "refresh.pml"

never {
  do
  :: path == 0
  :: path == 2 -> break
  od
}
