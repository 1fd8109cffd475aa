/**
 * The simulated service: it rotates refresh tokens in one of four ways and judges what it is sent.
 *
 * Tokens name what they are: `r1.3` is the third refresh token of the first sign-in, `a1.3` its access token.
 */
import { ReauthenticationRequiredError } from '../../../src/errors.ts'
import type { TokenSet } from '../../../src/issuer/token-set.ts'

/**
 * `strict` refuses a spent token; `family` revokes all of its session as well; `graceful` repeats its answer, `brief` only for
 * so many seconds as `grace`; `fixed` never rotates.
 */
export type Rotation = 'strict' | 'family' | 'graceful' | 'brief' | 'fixed'
/** Shorter than any pause. */
export const grace = 30

export const authUrl = 'http://127.0.0.1:9'
/** Seconds that an access token works. */
export const life = 8 * 60 * 60

export interface Service {
  signIn(now: number): TokenSet
  /** @param now - milliseconds */
  refresh(refreshToken: string, now: number): Answer
  /** Whether a session's refresh token is one that the service would take. */
  accepts(refreshToken: string): boolean
  /** Everything that decides how the service answers. */
  state(): string
  /** The same service, to go on differently. */
  fork(): Service
}

export interface Answer {
  readonly tokens?: TokenSet
  readonly error?: Error
  /** The refresh token had been sent before. */
  readonly repeated: boolean
}

interface Session {
  /** Of its newest refresh token. */
  serial: number
  issued: number
  /** When its newest refresh token was issued, in milliseconds. */
  at: number
  revoked: boolean
  answered: number
}

export function createService(rotation: Rotation, before: readonly Session[] = []): Service {
  const sessions = before.map((session) => ({ ...session }))
  let text: string | undefined

  function tokens(family: number, refreshSerial: number, accessSerial: number, now: number): TokenSet {
    return {
      access_token: `a${family}.${accessSerial}`,
      refresh_token: `r${family}.${refreshSerial}`,
      token_type: 'Bearer',
      expires_at: Math.floor(now / 1000) + life,
      auth_url: authUrl,
    }
  }

  function refresh(refreshToken: string, now: number): Answer {
    text = undefined
    const [family, serial] = parse(refreshToken)
    const session = sessions[family - 1]
    if (session === undefined) throw new Error('a token that was never issued')
    const refused = (repeated: boolean): Answer => ({
      error: new ReauthenticationRequiredError('refresh_token_rejected', { step: 'refresh', status: 400 }),
      repeated,
    })
    if (rotation === 'fixed') {
      session.issued += 1
      session.answered += 1
      return { tokens: tokens(family, 0, session.issued, now), repeated: session.answered > 1 }
    }
    if (session.revoked) return refused(serial < session.serial)
    if (serial < session.serial) {
      if (rotation === 'family') session.revoked = true
      const isRepeated = rotation === 'graceful' || (rotation === 'brief' && now - session.at <= grace * 1000)
      if (isRepeated && serial === session.serial - 1) {
        return { tokens: tokens(family, session.serial, session.serial, now), repeated: true }
      }
      return refused(true)
    }
    session.serial += 1
    session.at = now
    return { tokens: tokens(family, session.serial, session.serial, now), repeated: false }
  }

  function stateOf({ serial, issued, at, revoked }: Session): string {
    return `${serial}/${issued}/${revoked}${rotation === 'brief' ? `/${at}` : ''}`
  }

  return {
    signIn(now) {
      text = undefined
      sessions.push({ serial: 0, issued: 0, at: now, revoked: false, answered: 0 })
      return tokens(sessions.length, 0, 0, now)
    },
    refresh,
    accepts(refreshToken) {
      const [family, serial] = parse(refreshToken)
      const session = sessions[family - 1]
      if (session === undefined || session.revoked) return false
      return rotation === 'graceful' ? serial >= session.serial - 1 : serial === session.serial
    },
    state: () => (text ??= sessions.map(stateOf).join()),
    fork: () => createService(rotation, sessions),
  }
}

/** Sign-in and serial number of a token. */
export function parse(token: string): [family: number, serial: number] {
  const [family = '', serial = ''] = token.slice(1).split('.')
  return [Number(family), Number(serial)]
}
