/**
 * "Sign in again" in place: with e-mail, password and second factor, or on the service's own page for accounts that are asked
 * for a captcha. Whoever signs in must be the account that was to.
 */
import {
  accountName,
  identifyOwner,
  isSubjectAccount,
  PasscodeRejectedError,
  type Sso,
  SsoError,
  type TokenManager,
  type TokenSet,
  typedCode,
} from '@owner-sso/core'
import { type Exchange, sendPage, sendTo } from './exchange.ts'
import { duration } from './duration.ts'
import type { Notice, PageContext } from './pages/layout.ts'
import { browserPage, passcodePage, signInPage } from './pages/sign-in-pages.ts'
import type { Outcome, SendOnce } from './shared-submissions.ts'
import { type Reply, submissions } from './submissions.ts'
import type { SharedTries, TryLimit } from './shared-tries.ts'
import type { Visitor } from './visitor.ts'
import type { WaitingSignIns } from './waiting-sign-ins.ts'

export interface SignInRoutesOptions {
  readonly sso: Sso
  readonly tokens: Pick<TokenManager, 'save'>
  readonly path: string
  /** Where a sign-in waits for the person. */
  readonly waiting: WaitingSignIns
  /** Counts what is tried with each account. */
  readonly tries: SharedTries
  /** Sends a password that came to several instances. */
  readonly sendOnce: SendOnce
  /** Called once the tokens are stored. */
  readonly onSignedIn: (account: string) => void
}

type Route = (exchange: Exchange) => Promise<void>

/** Something that the person can put right; not an error of the service. */
class RefusedSignInError extends Error {}

/** Passwords and passcodes of one account in 15 minutes, counted before anything is sent: more get the account locked. */
export const signInTries: TryLimit = { tries: 5, during: 900 }

/** By method and what follows the page's path. */
export function signInRoutes(options: SignInRoutesOptions): ReadonlyMap<string, Route> {
  const { sso, tokens, path, waiting, tries, sendOnce, onSignedIn } = options
  const once = submissions()
  const contextOf = ({ visitor }: Exchange): PageContext => ({ path, formToken: visitor.formToken, isInside: true })

  const showSignIn = (
    exchange: Exchange,
    account: string | undefined,
    notice?: Notice,
    status = 200,
  ): Promise<void> => {
    const typed = exchange.form.get('identity') ?? (account === undefined || isSubjectAccount(account) ? '' : account)
    return sendPage(exchange, status, signInPage({ ...contextOf(exchange), account, identity: typed, notice }))
  }

  const showPasscode = async (exchange: Exchange, notice?: Notice): Promise<void> => {
    const signIn = await waiting.get(exchange.visitor.id, 'passcode')
    if (signIn === undefined) return sendTo(exchange, `${path}/sign-in`)
    const page = passcodePage({
      ...contextOf(exchange),
      ...signIn,
      chosen: exchange.form.get('factor') ?? undefined,
      notice,
    })
    return sendPage(exchange, notice === undefined ? 200 : 401, page)
  }

  const showBrowser = async (exchange: Exchange, account: string | undefined, notice?: Notice): Promise<void> => {
    const before = await waiting.get(exchange.visitor.id, 'browser')
    const signIn = before !== undefined && before.account === account ? before : await begun(exchange, account)
    const status = notice === undefined ? 200 : 401
    return sendPage(exchange, status, browserPage({ ...contextOf(exchange), account, url: signIn.url, notice }))
  }

  /** Makes no request: the person's browser makes the first. */
  const begun = async (exchange: Exchange, account: string | undefined) => {
    const hint = account === undefined || isSubjectAccount(account) ? {} : { loginHint: account }
    const { url, request: authorization } = sso.createAuthorizationUrl(hint)
    const signIn = { step: 'browser', account, url, authorization } as const
    await waiting.set(exchange.visitor.id, signIn)
    return signIn
  }

  /** @throws RefusedSignInError where somebody else has signed in; StoreError */
  const finish = async (visitor: Visitor, owner: string, wanted: string | undefined, set: TokenSet): Promise<void> => {
    if (wanted !== undefined && owner !== wanted) {
      throw new RefusedSignInError(`The account that signed in is ${owner}, not ${wanted}. Nothing was stored.`)
    }
    await tokens.save(owner, set)
    await waiting.set(visitor.id, { step: 'done', account: owner })
    await tries.forget(owner)
    onSignedIn(owner)
  }

  /** Whose tokens these are: what was typed is believed, but for accounts that have no e-mail. */
  const finishTyped = async (
    visitor: Visitor,
    identity: string,
    wanted: string | undefined,
    set: TokenSet,
  ): Promise<void> => {
    if (wanted === undefined || !isSubjectAccount(wanted)) return finish(visitor, accountName(identity), wanted, set)
    const named = await identifyOwner(sso, set)
    return finish(visitor, named.owner.account, wanted, named.tokens)
  }

  const submitPassword = async ({ form, visitor }: Exchange): Promise<Reply> => {
    const account = form.get('account') ?? undefined
    const outcome = await sendOnce(visitor.id, form.toString(), () => sendPassword(visitor, account, form))
    if (outcome === undefined) return (to) => showSignIn(to, account)
    if ('location' in outcome) return (to) => sendTo(to, outcome.location)
    return (to) => showSignIn(to, account, { kind: 'bad', text: outcome.refusal }, 401)
  }

  const sendPassword = async (
    visitor: Visitor,
    account: string | undefined,
    form: URLSearchParams,
  ): Promise<Outcome> => {
    const [identity, credential] = [form.get('identity')?.trim() ?? '', form.get('credential') ?? '']
    try {
      if (!/^[^\s@]+@[^\s@]+$/u.test(identity) || credential === '') {
        throw new RefusedSignInError('Enter the e-mail and the password of the account.')
      }
      await count(accountName(identity))
      const outcome = await sso.beginLogin({ identity, credential })
      if (outcome.kind === 'tokens') {
        await finishTyped(visitor, identity, account, outcome.tokens)
        return { location: path }
      }
      const { factors, pending } = outcome
      await waiting.set(visitor.id, { step: 'passcode', account, identity, factors, pending })
      return { location: `${path}/sign-in/passcode` }
    } catch (error) {
      return { refusal: noticeOf(error).text }
    }
  }

  const submitPasscode = async ({ form, visitor }: Exchange): Promise<Reply> => {
    const code = typedCode(form.get('passcode') ?? '')
    const factorId = form.get('factor') ?? undefined
    // Taken before anything is sent: whatever else is posted, here or at another instance, finds nothing to send again.
    const signIn = await waiting.take(visitor.id, 'passcode')
    if (signIn === undefined) return elsewhere(visitor)
    const { account, identity, pending } = signIn
    try {
      if (code === '') throw new RefusedSignInError('Enter the passcode that your device shows.')
      await count(accountName(identity))
      const answer = /^\d{1,8}$/u.test(code) ? { passcode: code, factorId } : { backupCode: code }
      await finishTyped(visitor, identity, account, await sso.completeLogin(pending, answer))
      return (to) => sendTo(to, path)
    } catch (error) {
      const goesOn = takesAnother(error) || !(error instanceof SsoError)
      if (goesOn) await waiting.set(visitor.id, signIn)
      const notice = noticeOf(error)
      return (to) => (goesOn ? showPasscode(to, notice) : showSignIn(to, account, notice, 401))
    }
  }

  /** Where a passcode leads that nothing waits for: it was the second of two, or too late. */
  const elsewhere = async ({ id }: Visitor): Promise<Reply> => {
    const isDone = (await waiting.get(id, 'done')) !== undefined
    return (to) => sendTo(to, isDone ? path : `${path}/sign-in`)
  }

  const submitBrowser = async ({ form, visitor }: Exchange): Promise<Reply> => {
    const account = form.get('account') ?? undefined
    const signIn = await waiting.take(visitor.id, 'browser')
    try {
      if (signIn === undefined || signIn.account !== account) {
        throw new RefusedSignInError('This sign-in took too long. Start again with the button.')
      }
      const address = form.get('callbackUrl')?.trim() ?? ''
      const { owner, tokens: set } = await identifyOwner(sso, await sso.redeemCallback(address, signIn.authorization))
      await finish(visitor, owner.account, account, set)
      return (to) => sendTo(to, path)
    } catch (error) {
      // An address that was sent is spent: the next one needs a new sign-in.
      const isSpent = error instanceof SsoError && error.requestSent
      if (signIn !== undefined && !isSpent) await waiting.set(visitor.id, signIn)
      const notice = noticeOf(error)
      return (to) => showBrowser(to, account, notice)
    }
  }

  /** @throws RefusedSignInError */
  const count = async (account: string): Promise<void> => {
    const wait = await tries.count(account)
    if (wait === 0) return
    throw new RefusedSignInError(
      `To protect the account, this page waits after a few tries. Try again in ${duration(Math.ceil(wait))}.`,
    )
  }

  return new Map<string, Route>([
    ['GET /sign-in', (exchange) => showSignIn(exchange, accountIn(exchange))],
    ['POST /sign-in', (exchange) => once(exchange, () => submitPassword(exchange))],
    ['GET /sign-in/passcode', (exchange) => showPasscode(exchange)],
    ['POST /sign-in/passcode', (exchange) => once(exchange, () => submitPasscode(exchange))],
    ['GET /sign-in/browser', (exchange) => showBrowser(exchange, accountIn(exchange))],
    ['POST /sign-in/browser', (exchange) => once(exchange, () => submitBrowser(exchange))],
  ])
}

/** Whose sign-in a link is for. */
function accountIn({ url }: Exchange): string | undefined {
  return url.searchParams.get('account') ?? undefined
}

/** Whether the sign-in waits for another passcode. */
function takesAnother(error: unknown): boolean {
  return error instanceof PasscodeRejectedError && error.reason !== 'too-many-attempts'
}

/** @throws what is neither the service's nor the person's mistake */
function noticeOf(error: unknown): Notice {
  if (error instanceof RefusedSignInError || error instanceof SsoError) return { kind: 'bad', text: error.message }
  throw error
}
