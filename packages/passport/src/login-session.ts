/**
 * The pending login of the person at hand, by the handle in their session.
 */
import { promisify } from 'node:util'
import type { Request } from 'express'
import type { AuthenticateOptions } from 'passport'
import type { StrategySettings } from './options.ts'
import type { Outcome } from './outcomes.ts'
import type { Ending, Kept } from './submissions.ts'
import type { KeptLogin } from './pending-login.ts'

/** Where the handle stands in `req.session`. */
const key = 'owner-sso:login'

/** What is used here of the session that express-session and its like put on a request. */
interface Session {
  [key]?: unknown
  regenerate?: unknown
  save?(done: (error?: unknown) => void): void
}

/** What a session needs of a strategy's settings. */
type LoginSettings = Pick<StrategySettings, 'pendingLogins' | 'answers' | 'beginnings'>

export interface LoginSession {
  /** Looks at the pending login. */
  peek(): KeptLogin | undefined
  /** The outcome of the same answer, where another request is sending it. */
  again(answer: string): Promise<Outcome | undefined> | undefined
  /** Takes the pending login out and sends an answer to it; `undefined` where another one was faster. */
  answer(answer: string, send: () => Promise<Ending>): Promise<Outcome | undefined>
  /** Begins a login in place of the pending one; once for requests of one browser that ask for the same at the same time. */
  begin(identity: string, answer: string, send: () => Promise<Ending>): Promise<Outcome>
  /** Keeps a login and saves the session, so that the next request finds it even if it comes before this answer's end. */
  keep(login: KeptLogin): Promise<void>
  /** Forgets it. */
  discard(): Promise<void>
}

/**
 * The session of a request about to be authenticated; `undefined` where the application wants none.
 *
 * @throws TypeError where Passport will need a session and there is none that it can use: before anything is sent to the
 *   service, not after.
 */
export function requiredLoginSession(
  request: Request,
  options: AuthenticateOptions,
  settings: LoginSettings,
): LoginSession | undefined {
  const session = sessionOf(request)
  const passportNeedsIt = options.session !== false && options.assignProperty === undefined
  if (!session && options.session !== false) {
    throw new TypeError(
      'OwnerSsoStrategy needs session support: use express-session (or similar) before passport.authenticate(), or pass it { session: false }.',
    )
  }
  if (session && passportNeedsIt && typeof session.regenerate !== 'function') {
    throw new TypeError(
      'OwnerSsoStrategy needs a session with regenerate(), so that the session id changes at sign-in: use express-session, or pass { session: false } to passport.authenticate().',
    )
  }
  return session && loginSessionIn(session, settings, request.headers?.cookie)
}

/** The same outside authentication, where a missing session only means that there is no pending login. */
export function loginSession(request: Request, settings: LoginSettings): LoginSession | undefined {
  const session = sessionOf(request)
  return session && loginSessionIn(session, settings)
}

function sessionOf(request: Request): Session | undefined {
  const session: unknown = Reflect.get(request, 'session')
  return typeof session === 'object' && session !== null ? session : undefined
}

/**
 * @param browser - the cookies of the request. They tell browsers apart while a session is new, since a new session has another
 *   id for each request until its first answer has come. Without cookies nothing tells browsers apart.
 */
function loginSessionIn(
  session: Session,
  { pendingLogins, answers, beginnings }: LoginSettings,
  browser?: string,
): LoginSession {
  const handle = (): string => {
    // Not by hasOwn: the values of Fastify's session are no own properties.
    const value = session[key]
    return typeof value === 'string' ? value : ''
  }
  const save = async (): Promise<void> => {
    // Sessions that live in a cookie have nothing to save.
    if (session.save) await promisify(session.save.bind(session))()
  }
  const write = async (next: string): Promise<void> => {
    if (next === handle()) return
    session[key] = next || undefined
    if (next === '') delete session[key]
    await save()
  }
  const kept = ({ outcome, next }: Ending): Kept => ({ outcome, handle: next ? pendingLogins.keep(next) : '' })
  const concluded = async ({ outcome, handle: next }: Kept): Promise<Outcome> => {
    await write(next)
    return outcome
  }
  const discard = async (): Promise<void> => {
    await Promise.all([pendingLogins.take(handle()), write('')])
  }
  return {
    peek: () => pendingLogins.peek(handle()),
    again: (answer) => answers.again(handle(), answer)?.then((end) => end && concluded(end)),
    async answer(answer, send) {
      const last = handle()
      const end = await answers.submit(last, answer, async () => {
        // Taken before the answer is sent: of several answers to one login, only one is sent.
        if ((await pendingLogins.take(last)) === undefined) return undefined
        return kept(await send())
      })
      return end && concluded(end)
    },
    async begin(identity, answer, send) {
      const begun = async (): Promise<Kept> => {
        await discard()
        return kept(await send())
      }
      if (browser === undefined) return concluded(await begun())
      const place = JSON.stringify([browser, identity])
      return concluded(await (beginnings.again(place, answer) ?? beginnings.submit(place, answer, begun)))
    },
    keep: (login) => write(pendingLogins.keep(login)),
    discard,
  }
}
