/**
 * Which login a request belongs to: told by what it carries, learnt from what was answered before.
 */
import { createHash } from 'node:crypto'
import type { ServiceResponse } from '../http/service-response.ts'
import { sessionCookie } from '../state/sessions.ts'
import type { Fields } from './masking.ts'

/** About ten thousand logins: each leaves a session, one or two codes and a pair of tokens a refresh. */
const maxTraces = 50_000

interface Traces {
  readonly query: URLSearchParams
  readonly cookies: ReadonlyMap<string, string>
  /** Of the body, unmasked. */
  readonly fields: Fields
  readonly bearer: string | undefined
}

/** A number for each login, from 1, and the e-mail of its account once somebody named it. */
export interface Flow {
  readonly number: number
  identity: string | undefined
}

export function createFlows() {
  // The values are secrets, and outlive the exchange they were seen in: only their digests are kept.
  const byTrace = new Map<string, Flow>()
  let last = 0

  function begin(): Flow {
    return { number: (last += 1), identity: undefined }
  }

  function bind(flow: Flow, kind: string, value: unknown): void {
    if (typeof value !== 'string' || value === '') return
    const trace = digest(kind, value)
    byTrace.delete(trace)
    byTrace.set(trace, flow)
    const [oldest] = byTrace.keys()
    if (byTrace.size > maxTraces && oldest !== undefined) byTrace.delete(oldest)
  }

  function find(kind: string, value: unknown): Flow | undefined {
    // Legacy clients send lists of one.
    const [only] = Array.isArray(value) ? value : [value]
    return typeof only === 'string' ? byTrace.get(digest(kind, only)) : undefined
  }

  return {
    /** The login that a request continues, or a new one if it begins one; undefined where nothing tells. */
    of({ query, cookies, fields, bearer }: Traces): Flow | undefined {
      const challenge = query.get('code_challenge')
      const flow =
        find('access_token', bearer) ??
        find('refresh_token', fields['refresh_token']) ??
        find('code', fields['code']) ??
        // A client's jar may still hold the cookie of its last login: the challenge is of this one.
        find('challenge', challenge) ??
        (challenge ? begin() : find('session', cookies.get(sessionCookie)))
      if (!flow) return undefined
      bind(flow, 'challenge', challenge)
      const identity = fields['identity'] ?? query.get('login_hint')
      if (typeof identity === 'string' && identity !== '') flow.identity = identity
      return flow
    },
    /** What an answer handed out belongs to this login, or to a new one if it hands out tokens of none. */
    learn(known: Flow | undefined, headers: ServiceResponse['headers'], fields: Fields): Flow | undefined {
      const { access_token, refresh_token } = fields
      const flow = known ?? (typeof access_token === 'string' ? begin() : undefined)
      if (!flow) return undefined
      bind(flow, 'access_token', access_token)
      bind(flow, 'refresh_token', refresh_token)
      bind(flow, 'code', new URLSearchParams(String(headers['location']).split(/\?(.*)/su)[1]).get('code'))
      const named = [headers['set-cookie'] ?? []].flat().find((cookie) => cookie.startsWith(`${sessionCookie}=`))
      bind(flow, 'session', named?.slice(sessionCookie.length + 1).split(';')[0])
      return flow
    },
    clear: (): void => byTrace.clear(),
  }
}

function digest(kind: string, value: string): string {
  return `${kind} ${createHash('sha256').update(value).digest('base64').slice(0, 20)}`
}
