/**
 * Watches an owner's vehicles without a browser or a person, until it is told to stop. Made to be copied.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { createSso, createTokenManager, type Factor, type PasscodeAnswer, SsoError } from '@owner-sso/core'
import { ownerFetch } from '@owner-sso/express'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { Secret, TOTP } from 'otpauth'
import { pino } from 'pino'

const { OWNER_SSO_AUTH_URL: authUrl = '', OWNER_SSO_ACCOUNT: account = '', TOKENS: path = 'tokens' } = process.env
const { OWNER_SSO_CREDENTIAL: credential = '', OWNER_SSO_TOTP_SECRET: secret = '', POLL_SECONDS = '60' } = process.env

const log = pino({ redact: ['*.vin', '*.access_token', '*.refresh_token', '*.id_token', '*.headers.authorization'] })
const sso = createSso({ authUrl })
const tokens = createTokenManager({ sso, store: fileTokenStore({ path }) })
const callOwnerApi = ownerFetch({ tokens, account }) // at OWNER_SSO_API_URL

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
let nextSignIn = 0 // sign-ins that follow each other get an account blocked

while (!stop.signal.aborted) {
  await poll().catch(judge)
  await pause(Number(POLL_SECONDS) * 1000, undefined, { signal: stop.signal }).catch(() => undefined)
}
await tokens.settled() // a refresh under way brings the next tokens
log.info('stopped')

async function poll(): Promise<void> {
  const { state } = await tokens.status(account)
  if ((state === 'signed-out' || state === 'reauthentication-required') && Date.now() >= nextSignIn) {
    nextSignIn = Date.now() + 6 * 3600 * 1000
    await tokens.save(account, await sso.login({ identity: account, credential, passcode }, { signal: stop.signal }))
    log.info('signed in')
  }
  const answer = await callOwnerApi('/api/1/vehicles', { signal: stop.signal })
  if (!answer.ok) throw new Error(`The owner API answered ${answer.status}`)
  const { response }: { response: object[] } = JSON.parse(await answer.text())
  for (const vehicle of response) log.info({ vehicle }, 'vehicle')
}

async function passcode(factors: readonly Factor[]): Promise<PasscodeAnswer> {
  const left = 30_000 - (Date.now() % 30_000)
  if (left < 3000) await pause(left) // a passcode that ends on its way is a wrong one
  const factorId = factors.find(({ name }) => name === process.env['OWNER_SSO_FACTOR'])?.id
  return { factorId, passcode: new TOTP({ secret: Secret.fromBase32(secret) }).generate() }
}

function judge(error: unknown): void {
  if (stop.signal.aborted) return
  const needsPerson = error instanceof SsoError && /CREDENTIALS|LOCKED|CAPTCHA|PASSCODE|REGION/u.test(error.code)
  log[needsPerson ? 'fatal' : 'warn']({ err: error }, needsPerson ? 'a person has to look' : 'this poll failed')
  if (!needsPerson) return
  process.exitCode = 78 // EX_CONFIG: a supervisor need not start it again
  stop.abort()
}
