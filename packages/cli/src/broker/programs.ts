/**
 * `owner-sso broker invite`, `list`, `rotate`, `revoke` and `code`: who may have tokens. No broker needs to run for it.
 */
import {
  type BrokerClients,
  brokerClients,
  type ClientScope,
  ClientsError,
  type Invited,
  type ListedClient,
  statusPageCode,
} from '@owner-sso/broker'
import { serviceProfile, type TokenManager, visible } from '@owner-sso/core'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import type { BrokerCall } from './broker-options.ts'
import { usableServiceNameOf } from '../settings/configured-service.ts'
import { endOf } from '../settings/option-values.ts'
import { printData, printJson, printNote } from '../terminal/output.ts'
import { counted, duration, localTime } from '../terminal/wording.ts'
import { chosenAccount } from '../tokens/account.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { publicUrlOf } from './place.ts'

export function invite(call: BrokerCall): Promise<void> {
  const { expires, scope, callsPerMinute } = call.options
  const name = nameIn(call)
  return withClients(call, async (clients, tokens) => {
    const invited = await clients.invite({
      name,
      accounts: await accountsOf(call, tokens),
      scope: scopesIn(scope),
      ...(expires !== undefined && { expiresAt: endOf('--expires', expires) }),
      ...(callsPerMinute !== undefined && { limits: { callsPerMinute: Number(callsPerMinute) } }),
    })
    await tell(invited, call)
    for (const account of invited.client.accounts) {
      const { state } = await tokens.status(account)
      if (state !== 'signed-out' && state !== 'reauthentication-required') continue
      printNote(
        `${account} is not signed in: ${invited.client.name} gets nothing until it is.`,
        `Sign in with: owner-sso login --account ${account}`,
      )
    }
  })
}

/** Those that `--account` names, with commas; else the only one of the store. */
async function accountsOf({ settings }: BrokerCall, tokens: TokenManager): Promise<readonly string[]> {
  return settings.account?.value.split(',').map((name) => name.trim()) ?? [await chosenAccount(settings, tokens)]
}

export function rotate(call: BrokerCall): Promise<void> {
  const name = nameIn(call)
  return withClients(call, async (clients) => {
    const rotated = await clients.rotate(name)
    await tell(rotated, call)
    const { expires_at: end = Infinity } = rotated.client
    if (end <= now()) printNote(`${name} has expired, and so has this key. Revoke it, and invite it again.`)
  })
}

export function revoke(call: BrokerCall): Promise<void> {
  const name = nameIn(call)
  return withClients(call, async (clients) => {
    if (!(await clients.revoke(name))) throw usageError(`No program is called ${name}.`, 'See owner-sso broker list.')
    printNote(`${name} gets nothing any more.`)
  })
}

export function list(call: BrokerCall): Promise<void> {
  return withClients(call, async (clients) => {
    const all = await clients.list()
    if (call.settings.json) return printJson({ clients: all })
    if (all.length === 0) return printNote('No program was invited. Let one in with: owner-sso broker invite NAME')
    return printData(...table(all.map(cells)))
  })
}

function cells({ name, accounts, scope, calls, expires_at: end, ...last }: ListedClient): string[] {
  const { last_used_at: used, last_address: address = 'unknown' } = last
  const expiry = end === undefined ? 'no expiry' : `${end <= now() ? 'expired' : 'expires'} ${localTime(end)}`
  const use = used === undefined ? 'never used' : `${duration(now() - used)} ago from ${address}`
  return [visible(name), visible(accounts.join(', ')), scope.join(', '), expiry, counted(calls, 'call'), use]
}

function now(): number {
  return Date.now() / 1000
}

function table(rows: readonly (readonly string[])[]): string[] {
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(width(column))).join('  '))
    .map((line) => line.trimEnd())
}

export function printCode({ settings }: BrokerCall): Promise<void> {
  return withTokens(
    settings,
    undefined,
    async ({ store }) => {
      const code = await statusPageCode(store.store)
      await (settings.json ? printJson({ code }) : printData(code))
      printNote('Type it into the status page. It works once, for ten minutes.')
    },
    { makesStore: true },
  )
}

function withClients(
  { settings, args }: BrokerCall,
  use: (clients: BrokerClients, tokens: TokenManager) => Promise<void>,
): Promise<void> {
  return withTokens(
    settings,
    undefined,
    async ({ tokens, store }) => {
      const clients = brokerClients({ store: store.store })
      try {
        await use(clients, tokens)
      } catch (error) {
        if (error instanceof TypeError) throw usageError(`${error.message}.`, 'See owner-sso broker --help.')
        if (!(error instanceof ClientsError)) throw error
        // A name that can't be used is the person's; all else is the store.
        const { reason, message, code } = error
        if (reason !== 'malformed') throw new CommandError(exitCodes.usage, message, 'See owner-sso broker list.', code)
        throw new CommandError(exitCodes.store, message, 'owner-sso doctor says where it is.', code)
      } finally {
        await clients.close()
      }
    },
    // Programs may be invited before anybody has signed in.
    { makesStore: args[0] === 'invite' },
  )
}

/** The refresh token is the only data: a script may put it straight into a file. */
async function tell({ client, refresh_token }: Invited, { settings, options }: BrokerCall): Promise<void> {
  await (settings.json ? printJson({ ...client, refresh_token }) : printData(refresh_token))
  const address = publicUrlOf(options)?.origin
  const callOf = { token: '/token', proxy: serviceProfile(usableServiceNameOf(settings)).vehicleList }
  printNote(
    `This is the refresh token of ${client.name}, for ${client.accounts.join(', ')}. It is shown once.`,
    ...client.scope.map(
      (scope) => `It is also the key for: curl -H "Authorization: Bearer …" ${address ?? 'ADDRESS'}${callOf[scope]}`,
    ),
    ...(client.scope.includes('proxy') ? ['Calls are forwarded by a broker that was started with --with-proxy.'] : []),
    ...(address === undefined ? ['ADDRESS is what owner-sso broker prints when it starts.'] : []),
  )
}

function nameIn({ args: [action, name] }: BrokerCall): string {
  if (name !== undefined) return name
  throw usageError('Which program?', `Give its name: owner-sso broker ${action} NAME`)
}

function scopesIn(text = 'token'): readonly ClientScope[] {
  return text.split(',').map((word) => {
    const scope = word.trim()
    if (scope === 'token' || scope === 'proxy') return scope
    throw usageError(`${JSON.stringify(scope)} is no scope.`, 'Give --scope token, proxy, or token,proxy.')
  })
}
