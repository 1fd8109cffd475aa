/**
 * Watches an owner's vehicles without a browser or a person, until it is told to stop. Made to be copied.
 */
import { setTimeout as pause } from 'node:timers/promises'
import {
  accountName,
  createSso,
  createTokenManager,
  refreshFromEnvironment,
  SsoError,
  ssoOptionsFromEnvironment,
  typedCode,
  type Factor,
} from '@owner-sso/core'
import { ownerFetch } from '@owner-sso/express'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { Secret, TOTP } from 'otpauth'
import { pino } from 'pino'

const { OWNER_SSO_ACCOUNT: identity = '', TOKENS: path = 'tokens' } = process.env
const { OWNER_SSO_CREDENTIAL: credential = '', OWNER_SSO_TOTP_SECRET: totp = '', POLL_SECONDS = '60' } = process.env
const secret = typedCode(totp) // without spaces and dashes
const redact = ['*.vin', '*.access_token', '*.refresh_token', '*.id_token', '*.headers.authorization']
process.on('SIGUSR1', () => undefined) // Node would open its debugger to every user of the machine
process.stdout.on('error', () => undefined) // it goes on where its log has no room
const log = pino({ redact }, process.stdout)
const settings = ['OWNER_SSO_AUTH_URL', 'OWNER_SSO_API_URL', 'OWNER_SSO_ACCOUNT', 'OWNER_SSO_CREDENTIAL']
const wrong = settings.filter((name) => !process.env[name]) // before the first request
if (!/^[A-Z2-7]*=*$/iu.test(secret)) wrong.push('OWNER_SSO_TOTP_SECRET (base32)')
if (!(Number(POLL_SECONDS) > 0)) wrong.push('POLL_SECONDS')
if (wrong.length > 0) giveUp(wrong)
const { account, sso, tokens, callOwnerApi } = build()
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
const never = -Infinity
let lastSignIn = { wall: never, monotonic: never } // sign-ins that follow each other get an account blocked

while (!stop.signal.aborted) {
  await poll().catch(judge)
  await pause(Number(POLL_SECONDS) * 1000, undefined, { signal: stop.signal }).catch(() => undefined)
}
await tokens.settled() // a refresh under way brings the next tokens
log.info('stopped')

function build() {
  try {
    const name = accountName(identity) // one token set, however it is spelled
    const options = ssoOptionsFromEnvironment()
    const service = createSso(options)
    const refresh = refreshFromEnvironment()
    const manager = createTokenManager({ issuer: service, store: fileTokenStore({ path }), refresh })
    const call = ownerFetch({ tokens: manager, account: name, transport: options.transport }) // at OWNER_SSO_API_URL
    return { account: name, sso: service, tokens: manager, callOwnerApi: call }
  } catch (error) {
    return giveUp([String(error)])
  }
}

function giveUp(settingsAtFault: string[]): never {
  log.fatal({ wrong: settingsAtFault }, 'settings that are missing or wrong')
  process.exit(78) // EX_CONFIG: a supervisor need not start it again
}

async function poll(): Promise<void> {
  await signInWhereNeeded()
  const reply = await callOwnerApi(sso.vehicleList, { signal: stop.signal })
  if (!reply.ok) return log.warn({ status: reply.status }, 'this poll failed')
  // An id has more digits than a number keeps: as text, it is exact.
  const text = (await reply.text()).replaceAll(/("id"\s*:\s*)(\d+)/gu, '$1"$2"')
  const { response }: { response: { vin?: string }[] } = JSON.parse(text)
  const vehicles = response.filter(({ vin }) => vin) // no energy sites
  for (const vehicle of vehicles) log.info({ vehicle }, 'vehicle')
}

async function signInWhereNeeded(): Promise<void> {
  const { state } = await tokens.status(account)
  if (state !== 'signed-out' && state !== 'reauthentication-required') return
  // The faster of both clocks: the one may be set back, and the other stands still in a machine that sleeps.
  const since = Math.max(Date.now() - lastSignIn.wall, performance.now() - lastSignIn.monotonic)
  if (since < 6 * 3600 * 1000) return
  lastSignIn = { wall: Date.now(), monotonic: performance.now() }
  const credentials = { identity, credential, ...(secret && { passcode }) }
  await tokens.save(account, await sso.login(credentials, { signal: stop.signal }))
  log.info('signed in')
}

async function passcode(factors: readonly Factor[]) {
  const left = 30_000 - (Date.now() % 30_000)
  if (left < 3000) await pause(left) // a passcode that ends on its way is a wrong one
  const factorId = factors.find(({ name }) => name === process.env['OWNER_SSO_FACTOR'])?.id
  return { factorId, passcode: new TOTP({ secret: Secret.fromBase32(secret) }).generate() }
}

/** Goes on where waiting helps. What has a cause and no code of ours is fetch's: the owner API is away. */
function judge(error: SsoError | Error): void {
  if (stop.signal.aborted) return
  const passing = /FIREWALL|TIMEOUT|UNREACHABLE|IN_DOUBT|BUDGET|REAUTHENTICATION|SIGNED_OUT|STORE/u
  const helps = error instanceof SsoError ? passing.test(error.code) : error.cause || error instanceof SyntaxError
  log[helps ? 'warn' : 'fatal']({ err: error }, helps ? 'this poll failed' : 'a person has to look')
  if (helps) return
  process.exitCode = 78
  stop.abort()
}
