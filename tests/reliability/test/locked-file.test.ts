/** A SQLite file that somebody keeps locked: a process frozen while it writes, or another program's long transaction. */
import { expect, test } from '@jest/globals'
import { atEnd, deploy } from './deployment/deployment.ts'
import { lock } from './deployment/sqlite-lock.ts'
import { sqliteRow } from './deployment/stores.ts'

const busy = 'ERR_SSO_STORE:busy'
const accounts = ['ann', 'ben', 'cem', 'dan']

test('a file that was locked in the middle of refreshes: nobody waits for ever, and then all serve one and the same token', async () => {
  const fleet = await deploy({ store: sqliteRow, processes: 3, emulator: { reuse: 'revoke-family' } })
  const { emulator, store, worker } = fleet
  if (store.kind !== 'sqlite') throw new Error('not a SQLite file')
  for (const name of accounts) await fleet.signIn(name)
  await fleet.expire()

  // One refresh is on its way, with its intent in the file; the others have not begun.
  const [held] = accounts
  await worker(0).arm('before-result', { kind: 'wait' })
  const first = worker(0).ask(held ?? '')
  await worker(0).reached('before-result')
  const release = lock(store.path)
  let isLocked = true
  const unlock = (): void => {
    if (isLocked) release()
    isLocked = false
  }
  atEnd(async () => unlock())
  const waiting = worker(1).ask(held ?? '')
  const others = accounts.slice(1).flatMap((name) => [0, 1, 2].map((index) => worker(index).ask(name)))
  const refused = await Promise.all(others)
  expect(refused.map(({ failures }) => failures)).toEqual(refused.map(() => ({ [busy]: 1 })))
  expect(emulator.requests).toHaveLength(1)

  await worker(0).release()
  const { tokens } = await first
  unlock()
  expect(await waiting).toMatchObject({ tokens, failures: {} })
  for (const name of accounts) {
    const answers = await fleet.ask(2, name)
    expect(answers.failures).toEqual({})
    expect(Object.keys(answers.tokens)).toHaveLength(1)
  }
  expect(emulator.counters).toMatchObject({ tokenRefreshes: 4, refreshRequests: 4, replays: 0 })
})
