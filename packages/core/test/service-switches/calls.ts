/** Calls of core that the rows of the switches make, and how they end. */
import { expect } from '@jest/globals'
import type { Emulator } from '@owner-sso/emulator'
import type { Sso, SsoOptions, TokenSet } from '../../src/index.ts'

/** A call with an `sso` of the emulator's addresses, and tokens that were obtained before anything was switched. */
export type Call = (sso: Sso, held: TokenSet, emulator: Emulator) => Promise<unknown>

/** One switch, and how a call ends once it is set. */
export interface Row {
  readonly when: string
  readonly set: (emulator: Emulator) => void
  readonly call: Call
  /** Fields of the tokens, or of the error. */
  readonly ends: object
  readonly options?: Partial<SsoOptions>
}

const credential = 'correct horse'
/** The account without a second factor. */
export const plain = 'plain@example.com'
/** More than any service sets. */
export const cookies: readonly string[] = ['_abck', 'ak_bmsc', 'bm_sz']

export const tokens: object = {
  access_token: expect.any(String),
  refresh_token: expect.any(String),
  token_type: 'Bearer',
}
export const signInAgain: object = { code: 'ERR_SSO_REAUTHENTICATION_REQUIRED' }
export const unusable: object = { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }

export const logIn: Call = (sso) => sso.login({ identity: plain, credential })

export const mistype: Call = (sso) => sso.login({ identity: plain, credential: 'mistyped' })

export const logInWithPasscode: Call = (sso, _held, emulator) => {
  const account = emulator.account('mfa@example.com')
  return sso.login({
    identity: account.identity,
    credential,
    passcode: ([factor]) => ({ factorId: factor?.id, passcode: account.passcode(factor?.id) }),
  })
}

/** The person looks for the phone for a minute. */
export const logInLate: Call = (sso, _held, emulator) => {
  const account = emulator.account('mfa@example.com')
  return sso.login({
    identity: account.identity,
    credential,
    passcode: ([factor]) => {
      emulator.clock.advance(301)
      return { factorId: factor?.id, passcode: account.passcode(factor?.id) }
    },
  })
}

export const logInWithAllCookies: Call = async (sso, held, emulator) => {
  const received = await logIn(sso, held, emulator)
  const form = emulator.requests.findLast(({ method, path }) => method === 'POST' && path === '/oauth2/v3/authorize')
  for (const name of [...cookies, 'sso.sid']) expect(form?.headers['cookie']).toContain(`${name}=`)
  return received
}

export const refresh: Call = (sso, held) => sso.refresh(held)

export const logInAndRefresh: Call = async (sso) => sso.refresh(await sso.login({ identity: plain, credential }))

/** The first one's answer is lost. */
export const refreshTwice: Call = async (sso, held, emulator) => {
  emulator.once('refresh', { drop: 'after-commit' })
  return refreshAfterALoss(sso, held, emulator)
}

export const refreshTwiceWithinMinutes: Call = async (sso, held, emulator) => {
  emulator.once('refresh', { drop: 'after-commit' })
  await expect(sso.refresh(held)).rejects.toMatchObject({ requestSent: true })
  emulator.clock.advance(61)
  return sso.refresh(held)
}

/** The next refresh is lost; what became of the refresh token shows at the one after. */
export const refreshAfterALoss: Call = async (sso, held) => {
  await expect(sso.refresh(held)).rejects.toMatchObject({ code: 'ERR_SSO_UNREACHABLE', requestSent: true })
  return sso.refresh(held)
}
