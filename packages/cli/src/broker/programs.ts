/**
 * `owner-sso broker invite`, `list`, `rotate`, `revoke` and `code`: who may have tokens. No broker needs to run for it.
 */
import {
  type BrokerClients,
  brokerClients,
  type ClientLimits,
  type ClientScope,
  ClientsError,
  type Invited,
  statusPageCode,
} from '@owner-sso/broker'
import { chosenAccount } from '../tokens/account.ts'
import type { BrokerCall } from './broker-call.ts'
import { CommandError, exitCodes, usageError } from '../command-line/command-error.ts'
import { printData, printJson, printNote } from '../terminal/output.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { clientTable } from './client-table.ts'
import { expiryOf } from './expiry.ts'
import { clientsPlaceOf, publicUrlOf } from './place.ts'

export function invite(call: BrokerCall): Promise<number> {
  const { options } = call
  const name = nameIn(call)
  return withClients(call, async (clients, accountOf) => {
    const account = await accountOf()
    const expiresAt = expiryOf(options.expires)
    const scope = scopesIn(options.scope)
    const limits = limitsIn(options.callsPerMinute)
    const invited = await clients.invite({
      name,
      accounts: [account],
      scope,
      ...(expiresAt !== undefined && { expiresAt }),
      ...(limits && { limits }),
    })
    await tell(invited, call)
  })
}

export function rotate(call: BrokerCall): Promise<number> {
  const name = nameIn(call)
  const grace = Number(call.options.grace ?? 0)
  if (!Number.isInteger(grace) || grace < 0) throw usageError('The grace can’t be used.', 'Give --grace whole seconds.')
  return withClients(call, async (clients) => tell(await clients.rotate(name, { grace }), call))
}

export function revoke(call: BrokerCall): Promise<number> {
  const name = nameIn(call)
  return withClients(call, async (clients) => {
    if (!(await clients.revoke(name))) throw usageError(`No program is called ${name}.`, 'See owner-sso broker list.')
    printNote(`${name} gets nothing any more.`)
  })
}

export function list(call: BrokerCall): Promise<number> {
  return withClients(call, async (clients) => {
    const all = await clients.list()
    if (call.settings.json) return printJson({ clients: all })
    if (all.length === 0) return printNote('No program was invited. Let one in with: owner-sso broker invite NAME')
    return printData(...clientTable(all))
  })
}

/** For whoever opens the status page. */
export async function printCode({ settings }: BrokerCall): Promise<number> {
  await withTokens(settings, undefined, async ({ store }) => {
    const code = await statusPageCode(store.store)
    await (settings.json ? printJson({ code }) : printData(code))
    printNote('Type it into the status page. It works once, for ten minutes.')
  })
  return exitCodes.ok
}

async function withClients(
  { settings, options }: BrokerCall,
  use: (clients: BrokerClients, account: () => Promise<string>) => Promise<void>,
): Promise<number> {
  await withTokens(settings, undefined, async ({ tokens, store }) => {
    const clients = brokerClients(clientsPlaceOf(options, store.store))
    try {
      await use(clients, () => chosenAccount(settings, tokens))
    } catch (error) {
      if (error instanceof ClientsError) throw inWordsOf(error)
      if (error instanceof TypeError) throw usageError(`${error.message}.`, 'See owner-sso broker --help.')
      throw error
    } finally {
      await clients.close()
    }
  })
  return exitCodes.ok
}

/** A name that can't be used is the person's; all else is the place that keeps the programs. */
function inWordsOf({ reason, message, code }: ClientsError): CommandError {
  const isName = reason === 'name-taken' || reason === 'unknown-client'
  if (isName) return new CommandError(exitCodes.usage, message, 'See owner-sso broker list.', code)
  return new CommandError(exitCodes.store, message, 'Put that right, or name another file with --clients.', code)
}

/** What a program of each scope may ask for. */
const callOf: Readonly<Record<ClientScope, string>> = { token: '/token', proxy: '/api/1/vehicles' }

/** The refresh token is the only data: a script may put it straight into a file. */
async function tell({ client, refresh_token }: Invited, { settings, options }: BrokerCall): Promise<void> {
  await (settings.json ? printJson({ ...client, refresh_token }) : printData(refresh_token))
  const address = publicUrlOf(options)?.origin
  printNote(
    `This is the refresh token of ${client.name}, for ${client.accounts.join(', ')}. It is shown once.`,
    ...client.scope.map(
      (scope) => `It is also the key for: curl -H "Authorization: Bearer …" ${address ?? 'ADDRESS'}${callOf[scope]}`,
    ),
    ...(address === undefined ? ['ADDRESS is what owner-sso broker prints when it starts.'] : []),
  )
}

function nameIn({ args: [action, name] }: BrokerCall): string {
  if (name !== undefined) return name
  throw usageError('Which program?', `Give its name: owner-sso broker ${action} NAME`)
}

/** @throws CommandError */
function limitsIn(text: string | undefined): ClientLimits | undefined {
  if (text === undefined) return undefined
  const callsPerMinute = /^\d{1,9}$/u.test(text) ? Number(text) : 0
  if (callsPerMinute > 0) return { callsPerMinute }
  throw usageError(`${JSON.stringify(text)} is no limit.`, 'Give --calls-per-minute a whole number above 0.')
}

function scopesIn(text: string | undefined): readonly ClientScope[] {
  return (text ?? 'token').split(',').map((word) => {
    const scope = word.trim()
    if (scope === 'token' || scope === 'proxy') return scope
    throw usageError(`${JSON.stringify(scope)} is no scope.`, 'Give --scope token, proxy, or token,proxy.')
  })
}
