/** What the command line says, and does, where the owner API refuses tokens that come of a refresh. */
import { once } from 'node:events'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ended, type Machine, newMachine } from './machine.ts'
import { storeLogin } from './signed-in.ts'
import { capture, describeInTerminal, inTerminal } from './terminal.ts'

const account = 'plain@example.com'
const emulator = useEmulator()
let machine: Machine

beforeEach(async () => {
  machine = newMachine(emulator)
  await storeLogin(machine, emulator, account)
})
afterEach(() => machine.remove())

/** A refreshed token is refused; the proxy of the command line meets that. Returns what its caller got. */
async function refusedAtTheProxy(): Promise<number> {
  emulator.applyScenario('refreshed-tokens-refused')
  expect((await machine.run(['refresh'])).code).toBe(0)
  const child = machine.start(['proxy'])
  const end = ended(child)
  const [url]: unknown[] = child.stdout ? await once(child.stdout, 'data') : []
  const { status } = await fetch(`${String(url).trim()}/api/1/vehicles`)
  child.kill('SIGINT')
  expect((await end).code).toBe(0)
  return status
}

const sentence =
  /Refreshed tokens are refused by the owner API\. Works until (?:\d{4}-\d\d-\d\d )?(\d\d:\d\d GMT\+9); sign in again before\./u

describe('where refreshed tokens are refused', () => {
  it('the proxy’s caller sees nothing of it, and status, its JSON and doctor say until when the account works', async () => {
    const before = (await machine.run(['token'])).stdout
    expect(await refusedAtTheProxy()).toBe(200)
    expect((await machine.run(['token'])).stdout).toBe(before)
    const env = { TZ: 'Asia/Tokyo' }
    const [shown, json, found] = await Promise.all([
      machine.run(['status'], { env }),
      machine.run(['status', '--json'], { env }),
      machine.run(['doctor'], { env }),
    ])
    const { advice, expires_at } = JSON.parse(json.stdout).accounts[0]
    const time = (zone: number): string => new Date((expires_at + zone * 3600) * 1000).toISOString().slice(11, 16)
    expect(advice).toContain(`Works until ${time(0)} UTC;`)
    expect(sentence.exec(shown.stdout)?.[1]).toBe(`${time(9)} GMT+9`)
    expect(sentence.exec(found.stdout)?.[1]).toBe(`${time(9)} GMT+9`)
    expect(found.stdout).toContain(`Run owner-sso login --account ${account}`)
    expect(emulator.counters.refreshRequests).toBe(1)
  })

  it('doctor --live puts the token back that worked before', async () => {
    const before = (await machine.run(['token'])).stdout
    emulator.applyScenario('refreshed-tokens-refused')
    const { code, stdout } = await machine.run(['doctor', '--live', '--yes'])
    expect(code).toBe(2)
    expect(stdout).toContain(`refreshed tokens are refused: owner-sso login --account ${account}`)
    expect((await machine.run(['token'])).stdout).toBe(before)
    expect(emulator.counters.refreshRequests).toBe(1)
  })

  it('token --min-validity says what there is, and refreshes no further', async () => {
    await refusedAtTheProxy()
    expect((await machine.run(['token', '--min-validity', '7h'])).code).toBe(0)
    const { code, stdout, stderr } = await machine.run(['token', '--min-validity', '9h'])
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' })
    expect(stderr).toMatch(
      /The access token ends at (?:\d{4}-\d\d-\d\d )?\d\d:\d\d \S+, .*Ask for less, or sign in again/su,
    )
    expect(emulator.counters.refreshRequests).toBe(1)
  })
})

describeInTerminal('where refreshed tokens are refused, in a terminal', () => {
  it('status says so', async () => {
    await refusedAtTheProxy()
    const terminal = inTerminal(machine, ['status'])
    await terminal.shows('sign in again before.')
    expect((await terminal.end()).code).toBe(0)
    capture('refused-status', terminal)
  })
})
