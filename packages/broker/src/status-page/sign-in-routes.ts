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
} from '@owner-sso/core'
import { type Exchange, sendPage, sendTo } from './exchange.ts'
import { duration } from './duration.ts'
import type { Notice, PageContext } from './pages/layout.ts'
import { browserPage, passcodePage, signInPage } from './pages/sign-in-pages.ts'
import type { SharedTries, TryLimit } from './shared-tries.ts'
import type { WaitingSignIns } from './waiting-sign-ins.ts'

export interface SignInRoutesOptions {
  readonly sso: Sso
  readonly tokens: Pick<TokenManager, 'save'>
  readonly path: string
  /** Where a sign-in waits for the person. */
  readonly waiting: WaitingSignIns
  /** Counts what is tried with each account. */
  readonly tries: SharedTries
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
  const { sso, tokens, path, waiting, tries, onSignedIn } = options
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
  const finish = async (
    exchange: Exchange,
    owner: string,
    wanted: string | undefined,
    set: TokenSet,
  ): Promise<void> => {
    if (wanted !== undefined && owner !== wanted) {
      throw new RefusedSignInError(`The account that signed in is ${owner}, not ${wanted}. Nothing was stored.`)
    }
    await tokens.save(owner, set)
    await waiting.set(exchange.visitor.id, { step: 'done', account: owner })
    await tries.forget(owner)
    onSignedIn(owner)
    sendTo(exchange, path)
  }

  /** Whose tokens these are: what was typed is believed, but for accounts that have no e-mail. */
  const finishTyped = async (
    exchange: Exchange,
    identity: string,
    wanted: string | undefined,
    set: TokenSet,
  ): Promise<void> => {
    if (wanted === undefined || !isSubjectAccount(wanted)) return finish(exchange, accountName(identity), wanted, set)
    const named = await identifyOwner(sso, set)
    return finish(exchange, named.owner.account, wanted, named.tokens)
  }

  const submitPassword: Route = async (exchange) => {
    const { form, visitor } = exchange
    const account = form.get('account') ?? undefined
    const [identity, credential] = [form.get('identity')?.trim() ?? '', form.get('credential') ?? '']
    try {
      if (!/^[^\s@]+@[^\s@]+$/u.test(identity) || credential === '') {
        throw new RefusedSignInError('Enter the e-mail and the password of the account.')
      }
      await count(accountName(identity))
      const outcome = await sso.beginLogin({ identity, credential })
      if (outcome.kind === 'tokens') return await finishTyped(exchange, identity, account, outcome.tokens)
      const { factors, pending } = outcome
      await waiting.set(visitor.id, { step: 'passcode', account, identity, factors, pending })
      return sendTo(exchange, `${path}/sign-in/passcode`)
    } catch (error) {
      return showSignIn(exchange, account, noticeOf(error), 401)
    }
  }

  const submitPasscode: Route = async (exchange) => {
    const signIn = await waiting.get(exchange.visitor.id, 'passcode')
    if (signIn === undefined) return sendTo(exchange, `${path}/sign-in`)
    const { account, identity, pending } = signIn
    const code = (exchange.form.get('passcode') ?? '').replaceAll(/[\s-]/gu, '')
    const factorId = exchange.form.get('factor') ?? undefined
    try {
      if (code === '') throw new RefusedSignInError('Enter the passcode that your device shows.')
      await count(accountName(identity))
      const answer = /^\d{1,8}$/u.test(code) ? { passcode: code, factorId } : { backupCode: code }
      return await finishTyped(exchange, identity, account, await sso.completeLogin(pending, answer))
    } catch (error) {
      if (error instanceof PasscodeRejectedError || !(error instanceof SsoError))
        return showPasscode(exchange, noticeOf(error))
      await waiting.delete(exchange.visitor.id)
      return showSignIn(exchange, account, noticeOf(error), 401)
    }
  }

  const submitBrowser: Route = async (exchange) => {
    const account = exchange.form.get('account') ?? undefined
    const signIn = await waiting.get(exchange.visitor.id, 'browser')
    try {
      if (signIn === undefined || signIn.account !== account) {
        throw new RefusedSignInError('This sign-in took too long. Start again with the button.')
      }
      const address = exchange.form.get('callbackUrl')?.trim() ?? ''
      const { owner, tokens: set } = await identifyOwner(sso, await sso.redeemCallback(address, signIn.authorization))
      return await finish(exchange, owner.account, account, set)
    } catch (error) {
      // An address that was sent is spent: the next one needs a new sign-in.
      if (error instanceof SsoError && error.requestSent) await waiting.delete(exchange.visitor.id)
      return showBrowser(exchange, account, noticeOf(error))
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
    ['POST /sign-in', submitPassword],
    ['GET /sign-in/passcode', (exchange) => showPasscode(exchange)],
    ['POST /sign-in/passcode', submitPasscode],
    ['GET /sign-in/browser', (exchange) => showBrowser(exchange, accountIn(exchange))],
    ['POST /sign-in/browser', submitBrowser],
  ])
}

/** Whose sign-in a link is for. */
function accountIn({ url }: Exchange): string | undefined {
  return url.searchParams.get('account') ?? undefined
}

/** @throws what is neither the service's nor the person's mistake */
function noticeOf(error: unknown): Notice {
  if (error instanceof RefusedSignInError || error instanceof SsoError) return { kind: 'bad', text: error.message }
  throw error
}
