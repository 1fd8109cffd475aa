/** A store as somebody else would write it: one JSON file, thirty lines, nothing but the interface to go by. */
import { readFile, writeFile } from 'node:fs/promises'
import type { TokenRecord, TokenStore } from '@owner-sso/core'

type Row = { version: number; record: TokenRecord; writeId: string }

export function jsonFileStore(path: string): TokenStore {
  let last: Promise<unknown> = Promise.resolve()
  const oneByOne = <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    const mine = last.then(work)
    last = mine.catch(() => undefined)
    return mine
  }
  const load = async (): Promise<Map<string, Row>> =>
    new Map(JSON.parse(await readFile(path, 'utf8').catch(() => '[]')))
  return {
    read: (account) =>
      oneByOne(async () => {
        const row = (await load()).get(account)
        return row && { version: row.version, record: row.record }
      }),
    swap: (account, expected, next, writeId) =>
      oneByOne(async () => {
        const rows = await load()
        const row = rows.get(account)
        if (row?.writeId === writeId) return { version: row.version, record: row.record }
        if ((row?.version ?? 0) !== expected) return { conflict: true }
        rows.set(account, { version: expected + 1, record: next, writeId })
        await writeFile(path, JSON.stringify([...rows]))
        return { version: expected + 1, record: structuredClone(next) }
      }),
  }
}
