/**
 * A correct store that writes down what it is asked, and that gives one wrong answer if told to: at which call, and in which way.
 */
import { createHash } from 'node:crypto'
import type { Conflict, TokenRecord, TokenStore, Versioned } from '@owner-sso/token-manager'
import type { TokenStoreConformanceOptions } from '../src/index.ts'
import { record } from '../src/records.ts'
import { conformance } from './recording-runner.ts'

type Answer = Versioned | Conflict | undefined
type Lie = (answer: Answer, asked: Asked) => unknown

interface Asked {
  readonly expected: number
  readonly next: TokenRecord
  readonly id: string
}

const other = record('a lie')
const stranger = { version: 1, record: other, writeId: 'a lie' }

/** Wrong answers to `read` and `swap`; one that would be the right answer is none. */
const lies: Readonly<Record<string, Lie>> = {
  nothing: () => undefined,
  conflict: () => ({ conflict: true }),
  success: (_answer, { expected, next, id }) => ({ version: expected + 1, record: next, writeId: id }),
  'version + 1': (answer) => ({ ...known(answer), version: known(answer).version + 1 }),
  'version - 1': (answer) => ({ ...known(answer), version: known(answer).version - 1 }),
  record: (answer) => ({ ...known(answer), record: other }),
  'write id': (answer) => ({ ...known(answer), writeId: 'a lie' }),
}
/** Wrong answers to `accounts`. */
const wrongLists: Readonly<Record<string, (names: readonly string[]) => readonly string[]>> = {
  'one less': (names) => names.slice(1),
  'one more': (names) => ['a lie', ...names],
  'one twice': (names) => [...names, ...names.slice(-1)],
}
/** Added to the version that was acknowledged to the writer that died. */
const wrongCounts = [-2, -1, 1, 2]

/** What a store is asked by a rule, a line each, and after it the wrong answers to it that the rule notices. */
export async function interviewOf(rule: string): Promise<readonly string[]> {
  const { log } = await asked(rule)
  return Promise.all(
    log.map(async ({ line, kind }, call) => {
      const kinds = {
        call: Object.keys(lies),
        accounts: Object.keys(wrongLists),
        crash: wrongCounts.map(String),
        other: [],
      }
      const noticed = await Promise.all(
        kinds[kind].map(async (lie) => {
          const { noticed: failure } = await asked(rule, { call, lie })
          return failure === undefined ? [] : [failure === 'AssertionError' ? lie : `${lie} (${failure})`]
        }),
      )
      return [line, noticed.flat().join(', ')].filter(Boolean).join('  | ')
    }),
  )
}

interface Line {
  readonly line: string
  readonly kind: 'call' | 'accounts' | 'crash' | 'other'
}

async function asked(
  rule: string,
  told?: { readonly call: number; readonly lie: string },
): Promise<{ readonly log: readonly Line[]; readonly noticed: string | undefined }> {
  const log: Line[] = []
  const rows = new Map<string, Versioned>()
  const watchers = new Set<() => void>()
  const ids = new Map<string, string>()
  const names = new Map<string, string>()
  let views = 0
  /** Calls that are not answered yet. */
  let waiting = 0

  /** Of random ids only which is which. */
  const shown = (id: string | undefined): string =>
    id === undefined ? 'any' : (ids.get(id) ?? ids.set(id, `#${ids.size + 1}`).get(id) ?? '')
  const note = (kind: Line['kind'], line: string): string | undefined => {
    log.push({ line: waiting > 0 ? `${line} while ${waiting} wait` : line, kind })
    return told?.call === log.length - 1 ? told.lie : undefined
  }
  const answered = async (answer: Answer, lie: string | undefined, question: Asked): Promise<never> => {
    const copy: Answer = answer && JSON.parse(JSON.stringify(answer))
    waiting += 1
    await Promise.resolve()
    waiting -= 1
    return (lie === undefined ? copy : lies[lie]?.(copy, question)) as never
  }

  const open = (): TokenStore => {
    const view = (views += 1)
    const by = `store ${view}`
    const swapped = (account: string, { expected, next, id }: Asked, expectedId: string | undefined): Answer => {
      const row = rows.get(account)
      if (row?.writeId === id) return row
      if ((row?.version ?? 0) !== expected || (expectedId !== undefined && row?.writeId !== expectedId))
        return { conflict: true }
      const written: Versioned = { version: expected + 1, record: JSON.parse(JSON.stringify(next)), writeId: id }
      rows.set(account, written)
      names.set(account, account)
      for (const tell of watchers) tell()
      return written
    }
    return {
      read: async (account) => {
        const lie = note('call', `${by} read ${named(account)}`)
        return answered(rows.get(account), lie, { expected: 0, next: other, id: 'a lie' })
      },
      swap: async (account, expected, next, id, options) => {
        const change = `${expected} ${digest(JSON.stringify(next))} ${shown(id)} over ${shown(options?.expectedWriteId)}`
        const lie = note('call', `${by} swap ${named(account)} ${change}`)
        return answered(swapped(account, { expected, next, id }, options?.expectedWriteId), lie, { expected, next, id })
      },
      async *accounts() {
        const lie = note('accounts', `${by} accounts`)
        yield* lie === undefined ? names.values() : (wrongLists[lie]?.([...names.values()]) ?? [])
      },
      watch: (account, onChange) => {
        note('other', `${by} watch ${named(account)}`)
        const tell = (): void => onChange()
        watchers.add(tell)
        return () => {
          note('other', `${by} watch ended`)
          watchers.delete(tell)
        }
      },
    }
  }
  const reopened = (): TokenStore => {
    note('other', 'opened again')
    return open()
  }
  const store: Omit<TokenStoreConformanceOptions, 'describe' | 'test'> = {
    createStore: open,
    reopen: reopened,
    accounts: true,
    watch: true,
    closeStore: async () => {
      note('other', 'closed')
      waiting += 1
      await Promise.resolve()
      waiting -= 1
    },
    crash: async (_store, account) => {
      const lie = note('crash', `crash ${named(account)}`)
      for (const version of [1, 2, 3]) {
        const filling = `${version};`.repeat(1024)
        rows.set(account, { version, record: record({ version, filling }), writeId: `write ${version}` })
      }
      return 3 + Number(lie ?? 0)
    },
    histories: 1,
  }
  const { failed } = await conformance(store, rule)
  const [failure] = failed.values()
  // `AssertionError [ERR_ASSERTION]: …`, or what the rule stumbled over.
  return { log, noticed: failure === undefined ? undefined : (/^\w+/u.exec(failure)?.[0] ?? '') }
}

function known(answer: Answer): Versioned {
  return answer && !('conflict' in answer) ? answer : stranger
}

/** A name, whatever signs it has. */
function named(account: string): string {
  return digest(JSON.stringify(account))
}

/** A long text by its digest. */
function digest(text: string): string {
  return text.length <= 60 ? text : createHash('sha256').update(text).digest('hex').slice(0, 12)
}
