/**
 * Watches an owner's vehicles without a browser or a person, until it is told to stop. Made to be copied.
 */
import { setTimeout as pause } from 'node:timers/promises'
import * as ownerSso from '@owner-sso/core'
import { ownerFetch } from '@owner-sso/express'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { Secret, TOTP } from 'otpauth'
import { pino } from 'pino'

const { OWNER_SSO_AUTH_URL: authUrl = '', OWNER_SSO_API_URL: target, OWNER_SSO_ACCOUNT: account = '' } = process.env
const { OWNER_SSO_CREDENTIAL: credential = '', OWNER_SSO_TOTP_SECRET: totpSecret = '' } = process.env
const { TOKENS_FOLDER: path = 'tokens', POLL_SECONDS = '60' } = process.env

const log = pino({ redact: ['*.vin', '*.access_token', '*.refresh_token', '*.id_token', '*.headers.authorization'] })
const sso = ownerSso.createSso({ authUrl })
const tokens = ownerSso.createTokenManager({ sso, store: fileTokenStore({ path }) })
const callOwnerApi = ownerFetch({ target, tokens, account })

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())

/** Repeated sign-ins get an account blocked: one in six hours is the most that a script may try. */
const signInPause = 6 * 3600 * 1000
let lastSignIn = Number.NEGATIVE_INFINITY

while (!stop.signal.aborted) {
  await poll().catch(recover).catch(giveUp)
  await pause(Number(POLL_SECONDS) * 1000, undefined, { signal: stop.signal }).catch(() => undefined)
}
await tokens.settled() // a refresh under way brings the next tokens
log.info('stopped')

async function poll(): Promise<void> {
  const answer = await callOwnerApi('/api/1/vehicles', { signal: stop.signal })
  if (!answer.ok) throw new Error(`The owner API answered ${answer.status}`)
  const { response }: { response: object[] } = JSON.parse(await answer.text())
  for (const vehicle of response) log.info({ vehicle }, 'vehicle')
}

async function recover(error: unknown): Promise<void> {
  const signedOut = error instanceof ownerSso.SignedOutError || error instanceof ownerSso.ReauthenticationRequiredError
  if (stop.signal.aborted) return
  if (!signedOut || Date.now() - lastSignIn < signInPause) return log.warn({ err: error }, 'this poll failed')
  lastSignIn = Date.now()
  await tokens.save(account, await sso.login({ identity: account, credential, passcode }, { signal: stop.signal }))
  log.info('signed in')
}

async function passcode(): Promise<string> {
  const left = 30_000 - (Date.now() % 30_000)
  if (left < 3000) await pause(left) // a passcode that ends on its way is a wrong one
  return new TOTP({ secret: Secret.fromBase32(totpSecret) }).generate()
}

function giveUp(error: unknown): void {
  log.fatal({ err: error }, 'the sign-in failed: a person has to look')
  process.exitCode = 78 // EX_CONFIG, so that a supervisor need not start it again
  stop.abort()
}
