/**
 * Login sessions: the cookie, the hidden inputs bound to it, and how far a login has come.
 */
import { randomBytes } from 'node:crypto'
import type { Account } from './accounts.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { Clock } from './clock.ts'
import { createExpiringMap } from './expiring-map.ts'
import type { Instance } from '../http/instances.ts'
import { isLenient } from './strictness.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

export const sessionCookie = 'sso.sid'
const maxSessions = 10_000
/** From the login page to the end of its session. */
const sessionSeconds = 900

/** A passcode page that was answered, waiting for its verification. */
export interface AskedPasscode {
  readonly account: Account
  readonly csrf: string
  readonly loginCsrf: string
  readonly isUnnamed: boolean
  readonly since: number
  attempts: number
  backupAttempts: number
  verified: boolean
}

export interface Session {
  readonly id: string
  readonly instance: Instance
  readonly request: AuthorizationRequest
  readonly transactionId: string
  readonly csrf: string
  asksFor: 'identity' | 'credential'
  /** The hidden inputs of that page, by the names they have there. */
  hidden: ReadonlyMap<string, string>
  readonly inTemplate: boolean
  readonly names: { readonly csrf: string; readonly transactionId: string; readonly cancel: string }
  captcha?: string
  pending?: AskedPasscode
}

/** A session keeps the hidden inputs it began with, whatever becomes of the option. */
export function createSessions(clock: Clock, settings: EmulatorSettings) {
  const sessions = createExpiringMap<Session>({ clock, lifetime: () => sessionSeconds, max: maxSessions })
  return {
    create(instance: Instance, request: AuthorizationRequest): Session {
      const { extra = {}, inTemplate = false } = settings.hiddenInputs
      const named = (name: string): string => hiddenInputName(settings.hiddenInputs, name)
      const transactionId = randomText(8)
      const csrf = randomCsrf(settings)
      const asksFor = settings.identityFirst ? 'identity' : 'credential'
      const hidden = new Map([
        [named('_csrf'), csrf],
        ...phaseInputs(asksFor, named),
        [named('transaction_id'), transactionId],
        [named('cancel'), ''],
        ...Object.entries(extra),
      ])
      const names = { csrf: named('_csrf'), transactionId: named('transaction_id'), cancel: named('cancel') }
      const about = { instance, request, transactionId, csrf, asksFor, hidden, inTemplate, names } as const
      const session: Session = { id: randomText(24), ...about }
      sessions.set(session.id, session)
      return session
    },
    find(id: string | undefined, instance: Instance): Session | undefined {
      const session = id === undefined ? undefined : sessions.get(id)
      return session?.instance === instance ? session : undefined
    },
  }
}

/** The second of two pages: it asks for the password. */
export function askForCredential(session: Session, { hiddenInputs }: EmulatorSettings): void {
  const phase = hiddenInputName(hiddenInputs, '_phase')
  session.asksFor = 'credential'
  session.hidden = new Map(
    [...session.hidden].flatMap(([name, value]) =>
      name === phase ? phaseInputs('credential', (each) => hiddenInputName(hiddenInputs, each)) : [[name, value]],
    ),
  )
}

/** As recorded: a page that asks for the e-mail alone has no `_process`. */
function phaseInputs(asksFor: Session['asksFor'], named: (name: string) => string): [string, string][] {
  return asksFor === 'identity'
    ? [[named('_phase'), 'identity']]
    : [
        [named('_phase'), 'authenticate'],
        [named('_process'), '1'],
      ]
}

export function hiddenInputName({ rename = {} }: EmulatorSettings['hiddenInputs'], name: string): string {
  return rename[name] ?? name
}

/** Opens the passcode step of a session; a second page of the same session keeps counting attempts. */
export function awaitPasscode(
  { settings, clock }: { readonly settings: EmulatorSettings; readonly clock: Clock },
  session: Session,
  account: Account,
): AskedPasscode {
  const { attempts = 0, backupAttempts = 0 } = session.pending ?? {}
  const isUnnamed = settings.passcodePage.csrf === 'none'
  const csrf = { csrf: randomCsrf(settings), loginCsrf: session.csrf, isUnnamed }
  session.pending = { account, ...csrf, since: clock.now(), attempts, backupAttempts, verified: false }
  return session.pending
}

export function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

/** Plain text with strictness lenient, as recorded. Else it has signs that a page must encode: a client that doesn't decode entities is refused. */
function randomCsrf(settings: EmulatorSettings): string {
  if (isLenient(settings)) return randomText(27)
  return `${randomText(12)}&"<${randomText(6)}>'+/=`
}
