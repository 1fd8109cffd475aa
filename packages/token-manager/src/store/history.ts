/**
 * The history of an account: the last things that happened to it, in its record. An event goes along with a write that is made
 * anyway. Each is a few words, the oldest first, and all of them are one text, so that a refresh takes none of it apart:
 *
 *     1767225600 signed-in - - nas:4711 Zp3kX9aQ;1767247200 refreshed due - nas:4711 b81_fM2c
 *
 * The last word names a refresh token by the beginning of its `lineage`, so that two events can be told to be about one token. The
 * key of that HMAC is the account's name, which whoever reads the store knows: a guess can be tested. But the record has the whole
 * HMAC already, of the tokens before as well (`spent`), and what is guessed is a random text of 128 bits or more (RFC 6749 section
 * 10.10). Whoever could test one of them has it. 48 bits tell the tokens of an account apart, lead back to none, and name the same
 * token otherwise under another account.
 */
import type { Holder } from '../support/holder.ts'

type OfSession = 'signed-in' | 'signed-out' | 'ended'
type OfRefresh = 'refreshed' | 'replayed' | 'failed' | 'in-doubt' | 'refused' | 'fell-back'
type OfStore = 'restored' | 'carried-over' | 'copied'
/** What happened. `replayed`: the answer to a refresh had been lost, and a second request brought it. */
export type HistoryEventName = OfSession | OfRefresh | OfStore

/** One event of an account's history. Times are seconds since the epoch, by the clock of the process that wrote it. */
export interface HistoryEvent {
  readonly what: HistoryEventName
  readonly at: number
  /** How often it happened, one right after the other. */
  readonly times: number
  /** The last time that it did. */
  readonly until: number
  /** Why a refresh was made: `due`, `expired`, `refused`, `asked`. Of a sign-in: `brought`, where the tokens came from elsewhere. */
  readonly why?: string
  /** How it failed: the service's own word, such as `login_required`; else `HTTP_503`, `UNREACHABLE`, … */
  readonly code?: string
  /** The process, and the name of its machine. */
  readonly pid?: number
  readonly host?: string
  /** Names the refresh token that it is about, without revealing it. */
  readonly token?: string
}

/** What an event says beside its time and its process. The `lineage` is that of its refresh token, by default the record's. */
export type Happening = Pick<HistoryEvent, 'what'> & {
  readonly [field in 'why' | 'code' | 'lineage']?: string | undefined
}

/** In doubt, and whoever sent the request has not said what came of it. */
export const noWord = 'no_word'

const mostEvents = 32
/** Of all of them together: sealed, they take a third more, and a record may grow by 3 KB. */
const mostCharacters = 2250
/** By its form below. */
const longestEvent = 140

/** Which process tells it, and what its clock shows: milliseconds since the epoch. */
interface By {
  readonly wall: number
  readonly holder: Holder
}

export function withEvent<Kind extends { readonly history?: string | undefined; readonly lineage?: string }>(
  record: Kind,
  happening: Happening,
  by: By,
): Kind {
  return { ...record, history: historyWith(record.history, { lineage: record.lineage, ...happening }, by) }
}

/** A history with one more event. One that says the same as the last one is counted there. */
export function historyWith(history: unknown, { what, why, code, lineage }: Happening, { wall, holder }: By): string {
  const at = Math.floor(wall / 1000)
  const words = [what, word(why, 16), word(code, 24)]
  const end = `${processName(holder)} ${fingerprintOf(lineage)}`
  const before = entriesOf(history)
  const last = eventIn(before.at(-1) ?? '')
  const isAgain = last?.what === what && last.code === code && (last.token ?? '-') === fingerprintOf(lineage)
  if (!isAgain) return textOf([...before, [at, ...words, end].join(' ')])
  return textOf([...before.slice(0, -1), [last.at, ...words, end, last.times + 1, at].join(' ')])
}

/** Two histories of one account as one. Where the second goes on from the first its order stays, else times decide. */
export function joined(one: unknown, other: unknown): string | undefined {
  const [first, second] = [entriesOf(one), entriesOf(other)]
  const known = new Set(second.map(nameOf))
  const missing = first.filter((entry) => !known.has(nameOf(entry)))
  const goesOn = missing.length < first.length && missing.every((entry, index) => entry === first[index])
  const all = [...missing, ...second]
  const both = goesOn ? all : all.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
  return both.length === 0 ? undefined : textOf(both)
}

/** What of an entry stays when it is counted again. */
function nameOf(entry: string): string {
  const [at, what, , , , token] = entry.split(' ')
  return `${at} ${what} ${token}`
}

interface Read {
  readonly events: readonly HistoryEvent[]
  readonly unreadable: number
  /** There may have been more, which gave way. */
  readonly isFull: boolean
}

/** Its events, and how many are damaged: the others are read all the same. */
export function eventsIn(history: unknown): Read {
  const all = entriesOf(history)
  const events = all.map(eventIn).filter((event) => event !== undefined)
  const isFull = all.length >= mostEvents || all.join(';').length > mostCharacters - longestEvent
  return { events, unreadable: all.length - events.length, isFull }
}

export const fingerprintOf = (lineage: string | undefined): string => word(lineage, 8)

const form =
  /^(?<at>\d{1,12}) (?<what>[a-z-]{1,16}) (?<why>[\w.-]{1,16}) (?<code>[\w.-]{1,24}) (?<host>[\w.-]{0,20}):(?<pid>\d{0,10}) (?<token>[\w-]{1,8})(?: (?<times>\d{1,7}) (?<until>\d{1,12}))?$/u

function eventIn(entry: string): HistoryEvent | undefined {
  const { what, at, times = 1, until = at, pid, ...words } = form.exec(entry)?.groups ?? {}
  if (what === undefined) return undefined
  const said = Object.entries(words).filter(([, value]) => value !== '-' && value !== '')
  const told = { ...Object.fromEntries(said), ...(pid && { pid: Number(pid) }) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a newer release may tell of something else as well
  return { what: what as HistoryEventName, at: Number(at), times: Number(times), until: Number(until), ...told }
}

/** What is no text has no event that could be read: that is said as one that can't be. */
function entriesOf(history: unknown): readonly string[] {
  if (history === undefined || history === null || history === '') return []
  return typeof history === 'string' ? history.slice(-2 * mostCharacters).split(';') : ['?']
}

function textOf(entries: readonly string[]): string {
  const kept = entries.slice(-mostEvents)
  for (let length = kept.join(';').length; length > mostCharacters;) length -= (kept.shift()?.length ?? length) + 1
  return kept.join(';')
}

function processName({ host = '', pid }: Holder): string {
  return `${host.replaceAll(/[^\w.-]/gu, '').slice(0, 20)}:${pid}`
}

const word = (given: string | undefined, length: number): string =>
  given?.replaceAll(/[^\w.-]/gu, '').slice(0, length) || '-'
