/**
 * An account whose tokens a broker keeps: it is asked for each message, so that what it hands out is as it is now.
 */
import { mayCarrySecrets, UnreachableError, verificationProblem } from '@owner-sso/core'
import type { Account, AccountSettings } from './account-settings.ts'
import { valid } from './status.ts'

/** Milliseconds for one answer. */
const timeLimit = 30_000
/** Seconds after which a status asks again whether a problem is over. */
const patience = 30

/** What the broker said last, and until when it counts (seconds since the epoch): while the token lives, or for a while. */
interface Heard {
  readonly until: number
  readonly problem?: unknown
}

/** The broker rejected the call, in its own words. */
class BrokerError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'BrokerError'
    this.code = code
  }
}

/** @throws TypeError */
export function brokerAccount({ brokerUrl, brokerKey, account }: AccountSettings): Account {
  const address = tokenAddress(brokerUrl, account)
  if (!/^[\w.~+/-]+=*$/u.test(brokerKey)) throw new TypeError('The broker needs the key of an invitation.')
  const listeners = new Set<() => void>()
  let heard: Heard | undefined

  function hear(next: Heard): void {
    const isNews = String(heard?.problem) !== String(next.problem) || (!next.problem && heard?.until !== next.until)
    heard = next
    if (isNews) for (const listener of listeners) listener()
  }

  async function ask(signal?: AbortSignal): Promise<string> {
    try {
      const { access_token, expires_at } = await currentToken(address, brokerKey, signal)
      hear({ until: expires_at })
      return access_token
    } catch (problem) {
      hear({ until: Date.now() / 1000 + patience, problem })
      throw problem
    }
  }

  return {
    name: account || 'broker',
    tokens: { getAccessToken: (_name, options) => ask(options?.signal), invalidate: async () => false },
    signInUrl: new URL('status', address).href,
    async status() {
      const now = Date.now() / 1000
      if (heard === undefined || heard.until <= now) await ask()
      if (heard?.problem !== undefined) throw heard.problem
      return valid((heard?.until ?? now) - now)
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    settled: async () => undefined,
  }
}

function tokenAddress(brokerUrl: string, account: string): URL {
  // `localhost:8700` would be an address of the scheme `localhost`.
  const isAddress = /^https?:\/\//iu.test(brokerUrl) && URL.canParse(brokerUrl)
  if (!isAddress) throw new TypeError('The broker needs an address, such as http://127.0.0.1:8700')
  const address = new URL('token', brokerUrl.replace(/\/*$/u, '/'))
  if (!mayCarrySecrets(address)) throw new TypeError('The broker’s address must be https, or http on this machine.')
  if (account !== '') address.searchParams.set('account', account)
  return address
}

async function currentToken(
  address: URL,
  key: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly access_token: string; readonly expires_at: number }> {
  const unverified = verificationProblem(address)
  if (unverified !== undefined) throw new TypeError(`The broker’s address ${unverified}`)
  const headers = { authorization: `Bearer ${key}`, accept: 'application/json' }
  const limit = AbortSignal.timeout(timeLimit)
  const answer = await fetch(address, {
    headers,
    redirect: 'manual',
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  }).catch(() => {
    throw new UnreachableError('The broker can’t be reached.')
  })
  const body: Record<string, unknown> = Object(await answer.json().catch(() => undefined))
  const { access_token, expires_at, code, detail } = body
  if (answer.ok && typeof access_token === 'string' && typeof expires_at === 'number') {
    return { access_token, expires_at }
  }
  if (typeof code === 'string' && typeof detail === 'string') throw new BrokerError(code, detail)
  throw new UnreachableError('What answers at the broker’s address is no broker.')
}
