/**
 * Tells people once that an account has to sign in again, or soon will, and once that it works again: whichever instance
 * notices first, and whatever restarts meanwhile. The same once for all accounts, where the application is rejected.
 *
 * What was told stands in the store. An instance claims an alert there before it tells it; one that ends meanwhile is
 * succeeded by another after the claim's time, so an alert may come twice then, with the same id, but never gets lost.
 */
import { checkOptions, kinds, notebook, type OptionRows, type TokenManager, type TokenStore } from '@owner-sso/core'
import { storeRow } from '../given/given.ts'
import { type Alert, type AlertChannel, theClient } from './alert.ts'
import { begun, type Noted, noteIn, says, type Standing, standingOf } from './noted-alert.ts'
import { type AlertFailure, tellerOf } from './telling.ts'

/** Which accounts are watched, and who is told. */
export interface AccountAlertsOptions {
  readonly tokens: Pick<TokenManager, 'status' | 'accounts' | 'on'>
  /** Where it is remembered what was told; the store of `tokens`. */
  readonly store: TokenStore
  readonly channels: readonly AlertChannel[]
  /** Accounts to watch beside those that are signed in: those of the clients. */
  readonly accounts?: () => Promise<readonly string[]>
  /** Where people sign in again: the address of the status page. */
  readonly signInUrl?: string | undefined
  /** Seconds between two looks at all accounts; default 30. */
  readonly every?: number
  /** Seconds until an alert that a channel failed to tell is tried again, and once more …; default 30 s, 2 min, 10 min, 1 h. */
  readonly retryAfter?: readonly number[]
  /** Gets what went wrong: a channel that failed, a store that could not be read. */
  readonly onFailure?: (failure: AlertFailure) => void
}

/** Tells people of an account once that it has to sign in again, or soon will, and once that it works again. */
export interface AccountAlerts {
  /** Somebody met this account in need of a sign-in. Costs nothing where that was told already. */
  readonly signInNeeded: (account: string) => void
  /** Somebody got a token of this account. Costs nothing where nobody was told otherwise. */
  readonly works: (account: string) => void
  /** Ends the watch; resolves when what is being told is told. */
  readonly close: () => Promise<void>
}

const rows: OptionRows<AccountAlertsOptions> = {
  tokens: kinds.required(kinds.having('what createTokenManager() returns', 'accounts', 'on', 'status')),
  store: storeRow,
  // Anything else would tell nobody, and not say so before somebody has to sign in again.
  channels: kinds.required({
    must: 'a list of { name, tell }',
    fits: (value) => Array.isArray(value) && value.every(isChannel),
  }),
  accounts: { must: 'a function that resolves to a list of names', fits: (value) => typeof value === 'function' },
  signInUrl: { must: 'the http or https address of the status page', fits: isUrl },
  every: kinds.number('seconds above 0', 0.001, 2_147_483),
  retryAfter: {
    must: 'a list of seconds',
    fits: (value) => Array.isArray(value) && value.every(kinds.number('seconds').fits),
  },
  onFailure: kinds.function,
}

function isChannel(channel: Partial<AlertChannel> | null): boolean {
  return typeof channel?.name === 'string' && typeof channel.tell === 'function'
}

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/u.test(new URL(value).protocol)
}

/**
 * Watches accounts for people: see `AccountAlerts`.
 *
 * @throws TypeError that names a wrong option
 */
export function accountAlerts(options: AccountAlertsOptions): AccountAlerts {
  checkOptions('accountAlerts', options, rows)
  const { tokens, store, channels, accounts = async () => [], signInUrl, every = 30 } = options
  const { retryAfter = [30, 120, 600, 3600], onFailure = () => undefined } = options
  if (new Set(channels.map(({ name }) => name)).size < channels.length) {
    throw new TypeError('channels must have names of their own, such as { ...channel, name }')
  }
  const notes = notebook(store, 'alerts')
  const tell = tellerOf({ notes, signInUrl, retryAfter, onFailure })
  /** Accounts of which this process knows that all channels have told, or have nothing to tell. */
  const settled = new Map<string, Pick<Noted, 'type' | 'at'>>()
  const underWay = new Map<string, Promise<void>>()
  /** What was heard of the client, until it is noted: then it stands as noted, also where another instance hears more. */
  let ofClient: Standing | undefined
  let isClosed = false

  /** Looks how an account stands, and tells who was not told yet. Whoever asks meanwhile gets the same look. */
  const look = (account: string): Promise<void> => {
    const running = underWay.get(account)
    if (running !== undefined || isClosed) return running ?? Promise.resolve()
    const looking = lookAt(account)
      .catch((error: unknown) => onFailure({ error, account }))
      .finally(() => underWay.delete(account))
    underWay.set(account, looking)
    return looking
  }

  const lookAt = async (account: string): Promise<void> => {
    const standing = account === theClient ? await standingOfClient() : standingOf(await tokens.status(account))
    const last = account === theClient ? undefined : settled.get(account)
    if (standing === undefined || (last !== undefined && says(last, standing))) return
    const noted = noteIn(await notes.change((all) => begun(all, account, standing)), account)
    if (ofClient === standing) ofClient = undefined
    const toldBy = await Promise.all(noted === undefined ? [] : channels.map((each) => tell(each, account, noted)))
    if (toldBy.every(Boolean)) settled.set(account, noted ?? { type: standing.type, at: 0 })
  }

  const standingOfClient = async (): Promise<Standing | undefined> => ofClient ?? noteIn(await notes.read(), theClient)

  const lookAtAll = async (): Promise<void> => {
    try {
      const names = new Set([...(await accounts()), ...Object.keys(await notes.read()), theClient])
      await listInto(names)
      await Promise.all([...names].map(look))
    } catch (error) {
      onFailure({ error })
    }
  }

  /** One record that can't be read keeps no other account from being looked at. */
  const listInto = async (names: Set<string>): Promise<void> => {
    try {
      for await (const name of tokens.accounts()) names.add(name)
    } catch (error) {
      onFailure({ error })
    }
  }

  const noticeUnless =
    (...types: readonly Alert['type'][]) =>
    (account: string) => {
      const { type } = settled.get(account) ?? {}
      if (type === undefined || !types.includes(type)) void look(account)
    }
  const stops = (['reauthentication-required', 'refreshed-token-refused', 'not-refreshed'] as const).map((event) =>
    tokens.on(event, ({ account }) => void look(account)),
  )
  const noticeClient = (type: Alert['type']) => (): void => {
    ofClient = { type }
    void look(theClient)
  }
  stops.push(tokens.on('client-rejected', noticeClient('client.rejected')))
  stops.push(tokens.on('refreshed', noticeClient('client.restored')))
  let watching = lookAtAll()
  const timer = setInterval(() => {
    watching = watching.then(lookAtAll)
  }, every * 1000)
  timer.unref()

  return {
    signInNeeded: noticeUnless('sign-in.needed'),
    works: noticeUnless('sign-in.restored', 'sign-in.due', 'refresh.overdue'),
    async close() {
      isClosed = true
      clearInterval(timer)
      for (const stop of stops) stop()
      await Promise.all([watching, ...underWay.values()])
    },
  }
}
