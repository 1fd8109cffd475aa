/**
 * The Passport strategy: each request to it ends in exactly one of Passport's outcomes.
 */
import { stackFrames, type TokenManager } from '@owner-sso/core'
import type { Request } from 'express'
import { Strategy as PassportStrategy } from 'passport-strategy'
import { signInByBrowser } from './browser-sign-in.ts'
import { failureOutcome } from './failures.ts'
import { signInByForm } from './form-sign-in.ts'
import { loginSession } from './login-session.ts'
import {
  type StrategySettings,
  parseStrategyOptions,
  type StrategyOptions,
  type StrategyOptionsWithRequest,
} from './options.ts'
import { type Outcome, outcomeReporter } from './outcomes.ts'
import { type RequestOptions, signInRequest } from './sign-in-request.ts'
import type { Verify, VerifyWithRequest } from './verify.ts'
import { type PendingLoginView, viewOf } from './pending-login.ts'

/**
 * Signs a vehicle owner in with the SSO service: `passport.use(new OwnerSsoStrategy())`.
 *
 * Nothing here is a `#private` member: Passport calls each request on `Object.create(strategy)`, which has none.
 */
export class OwnerSsoStrategy extends PassportStrategy {
  readonly name: string = 'owner-sso'
  /** The manager that has the tokens of everybody who signed in: adapters and routes share it. */
  readonly tokens: TokenManager
  private readonly settings: StrategySettings

  /**
   * @param options - without them the service is `OWNER_SSO_AUTH_URL` and everything else has a default.
   * @param verify - makes the user of a sign-in; without it the user is `{ account, email }`.
   * @throws TypeError that names the option, or says what to set.
   */
  constructor(verify: Verify)
  constructor(options: StrategyOptionsWithRequest, verify: VerifyWithRequest)
  constructor(options?: StrategyOptions, verify?: Verify)
  constructor(
    options: StrategyOptions | StrategyOptionsWithRequest | Verify = {},
    verify?: Verify | VerifyWithRequest,
  ) {
    super()
    this.settings =
      typeof options === 'function' ? parseStrategyOptions({}, options) : parseStrategyOptions(options, verify)
    this.tokens = this.settings.tokens
  }

  /** Called by Passport. Synchronous: nobody would wait for a promise, nor catch its rejection. */
  override authenticate(request: Request, options?: RequestOptions): void {
    const report = outcomeReporter(this)
    this.outcomeOf(request, options ?? {})
      .then(report)
      // Only what the application does in reply to the outcome can have thrown: its error handler hears of it.
      .catch((error: unknown) => report({ kind: 'error', error }))
      .catch((error: unknown) => warnOfFault(this.name, error))
  }

  /** What the page after a redirect shows: the factors to choose from, or the link to follow. Nothing of it is secret. */
  pendingLogin(request: Request): PendingLoginView | undefined {
    const pending = loginSession(request, this.settings)?.peek()
    return pending && viewOf(pending)
  }

  /** Forgets the sign-in that waits for its next step, password and all: "start over". */
  async cancelPendingLogin(request: Request): Promise<void> {
    await loginSession(request, this.settings)?.discard()
  }

  private async outcomeOf(request: Request, options: RequestOptions): Promise<Outcome> {
    try {
      const incoming = signInRequest(this.settings, request, options)
      const signIn = this.settings.mode === 'browser' ? signInByBrowser : signInByForm
      return await signIn(this.settings, incoming)
    } catch (error) {
      return failureOutcome(error)
    }
  }
}

/** With the place alone: the words of an application's error may hold anything that its author had at hand. */
function warnOfFault(name: string, error: unknown): void {
  const message = `${name}: what the application does in reply to a sign-in failed, and so did its error handler.`
  process.emitWarning(message, { type: 'OwnerSsoWarning', code: 'OWNER_SSO_CALLBACK', detail: stackFrames(error) })
}
