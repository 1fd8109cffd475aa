/**
 * Whether the store can be read and written, who is in it, and whether others could get at it.
 */
import {
  createTokenManager,
  firewallRecordName,
  overdueAdvice,
  refusalAdvice,
  type TokenManager,
  type TokenStore,
} from '@owner-sso/core'
import { exitCodes } from '../failure/command-error.ts'
import { accountNames } from '../tokens/account.ts'
import { failureOf } from '../terminal/failure.ts'
import { isThere, notSealed, type OpenStore, withStore } from '../tokens/open-store.ts'
import { storeAt } from '../stores/store-kinds.ts'
import { tokenUrlsOf } from '../settings/configured-service.ts'
import type { Settings } from '../settings/settings.ts'
import { neverRefreshes } from '../tokens/token-keeping.ts'
import { counted, duration, likely, localTime } from '../terminal/wording.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'

export async function checkStore(settings: Settings): Promise<Finding[]> {
  try {
    if (!isThere(settings.store.value)) return [notThere(settings)]
    return await withStore(settings.store.value, settings, {}, (store) => findingsAt(store, settings))
  } catch (error) {
    return [unreadable(error)]
  }
}

function unreadable(error: unknown): Finding {
  const { message, next, exitCode } = failureOf(error)
  return problem('store', message, next, exitCode)
}

/** The default one is made by the first sign-in. Of another it may be the address that is wrong. */
function notThere({ store }: Settings): Finding {
  const { kind, place } = storeAt(store.value)
  const text = `${kind.shown(place)} (${store.from}) is not there yet`
  if (store.from === 'default') return good('store', `${text}: the first sign-in makes it`)
  return note('store', `${text}.`, 'Look whether that is its address: the first sign-in makes it.')
}

const encryptionAdvice =
  'To seal them, sign in on a desktop with a keyring, or set OWNER_SSO_ENCRYPTION_KEY=$(openssl rand -base64 32) first.'

async function findingsAt({ store, shown, sealed, keyIn, check }: OpenStore, settings: Settings): Promise<Finding[]> {
  await store.read('owner-sso')
  const tokens = createTokenManager({ issuer: neverRefreshes, store, refresh: settings.refresh.value })
  const { names: accounts, failure } = await accountNames(tokens)
  const encryption = sealed
    ? good('encryption', `records are sealed (AES-256-GCM); the key is in ${keyIn}`)
    : note('encryption', 'none: who can read the store has the tokens.', encryptionAdvice)
  return [
    good('store', `${shown} (${settings.store.from}), ${counted(accounts.length, 'account')}`),
    ...(failure === undefined ? [] : [unreadable(notSealed(failure, { shown }, settings))]),
    ...(await check()),
    encryption,
    ...severalAccounts(settings, accounts),
    ...(await checkBlocks(store, settings)),
    ...(await Promise.all(accounts.map((account) => checkAccount(account, tokens)))).flat(),
  ]
}

/** `token`, `refresh` and `proxy` can't choose among them. */
function severalAccounts({ account }: Settings, accounts: readonly string[]): Finding[] {
  if (account !== undefined || accounts.length < 2) return []
  const text = `Several accounts are signed in and none is named: ${accounts.join(', ')}.`
  return [problem('account', text, 'Name one with --account, or set OWNER_SSO_ACCOUNT.')]
}

async function checkAccount(account: string, tokens: TokenManager): Promise<Finding[]> {
  const status = await tokens.status(account)
  const { why } = await tokens.history(account)
  const overdue = overdueAdvice(status, localTime)
  if (overdue !== undefined) return [note('refresh', `${account}: ${overdue}`, 'Run owner-sso doctor there.')]
  if (why.cause === 'signed-in') return []
  const advice = refusalAdvice(status, localTime)
  const text = `${account}: ${advice ?? likely(why)}`
  if (why.cause === 'refreshing') return [good('tokens', text)]
  const signsIn = advice !== undefined || status.state === 'reauthentication-required'
  const fix = signsIn ? `Run owner-sso login --account ${account}.` : why.to_do
  return [note('tokens', text, `${fix} What that rests on: owner-sso why ${account}`)]
}

/** Whether the firewall of the SSO service blocks this machine, as the processes that share the store remember it. */
async function checkBlocks(store: TokenStore, settings: Settings): Promise<Finding[]> {
  const { authUrl, regionalAuthUrls } = settings
  const findings: Finding[] = []
  for (const url of new Set([authUrl?.value, ...regionalAuthUrls.value, ...tokenUrlsOf(settings)])) {
    if (url === undefined || !URL.canParse(url)) continue
    const record = (await store.read(firewallRecordName(url)))?.record
    if (record?.state !== 'firewall' || record.challenges === 0) continue
    const left = record.noted_at + record.wait - Date.now() / 1000
    if (left > 0) findings.push(blocked(new URL(url).host, left))
  }
  return findings
}

function blocked(host: string, seconds: number): Finding {
  const text = `The firewall of ${host} blocks this machine: nothing is sent there for another ${duration(seconds)}.`
  const fix = 'Wait until then. Each request in between can prolong the block.'
  return problem('firewall', text, fix, exitCodes.firewall)
}
