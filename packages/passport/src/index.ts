// The strategy, under its own name and under the one that Passport's users expect.
export { OwnerSsoStrategy, OwnerSsoStrategy as Strategy } from './strategy.ts'

// How it is set up.
export type { StrategyOptions, StrategyOptionsWithRequest } from './options.ts'
export type { OwnerSsoUser, SignIn, Verify, VerifyDone, VerifyWithRequest } from './verify.ts'

// What a request may carry, and what comes of it.
export type { OwnerSsoAuthenticateOptions } from './sign-in-request.ts'
export type { SignInFailure, SignInFailureCode } from './outcomes.ts'
export type { PendingLoginView } from './pending-login.ts'
export { SignInUnavailableError } from './failures.ts'
