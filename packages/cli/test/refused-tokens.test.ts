/** What the command line says, and does, where the owner API refuses tokens that come of a refresh, and where others refresh. */
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

/** A machine that leaves refreshes to others: it asks no token endpoint, and says when nobody refreshes. */
const elsewhere = { OWNER_SSO_REFRESH: 'elsewhere', TZ: 'Asia/Tokyo' }
const hour = 3600

describe('where refresh is elsewhere', () => {
  let asked = 0
  beforeEach(async () => {
    asked = emulator.requests.length
  })

  it.each([['login'], ['login', '--browser'], ['keep'], ['keep', '--once']])(
    'owner-sso %s %s is refused',
    async (...args) => {
      const { code, stdout, stderr } = await machine.run(args, { env: elsewhere })
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain('This machine asks no token endpoint: refresh is elsewhere (OWNER_SSO_REFRESH).')
      expect(stderr).toContain('Run this where tokens are refreshed, over the same store.')
      expect(emulator.requests).toHaveLength(asked)
    },
  )

  it('token prints what the store has, and refresh refuses', async () => {
    const here = await machine.run(['token'])
    expect(await machine.run(['token'], { env: elsewhere })).toEqual(here)
    const { code, stderr } = await machine.run(['refresh'], { env: elsewhere })
    expect({ code, stderr }).toEqual({
      code: 7,
      stderr: expect.stringMatching(/: Nobody has refreshed since .*\d\d:\d\d GMT\+9, and this/u),
    })
    expect(emulator.requests).toHaveLength(asked)
  })

  it('status, its JSON and doctor say since when nobody has refreshed, and until when the token works', async () => {
    const late = { env: elsewhere, ahead: 7 * hour }
    const shown = await machine.run(['status'], late)
    const overdue =
      /Nobody has refreshed since .*\d\d:\d\d GMT\+9\. Works until .*\d\d:\d\d GMT\+9\. Look at the process that/u
    expect(shown.stdout).toMatch(overdue)
    expect(shown.stdout).not.toContain('next refresh')
    const [status] = JSON.parse((await machine.run(['status', '--json'], late)).stdout).accounts
    expect(status).toMatchObject({ state: 'valid', not_refreshed_since: status.obtained_at })
    expect(status.advice).toMatch(/^Nobody has refreshed since .*\d\d:\d\d UTC\./u)
    const found = await machine.run(['doctor'], late)
    expect(found.stdout).toMatch(overdue)
    expect(found.stdout).toContain('elsewhere (OWNER_SSO_REFRESH)')
    expect(emulator.requests.slice(asked).map(({ path }) => path)).not.toContain('/oauth2/v3/authorize')
    const over = await machine.run(['status'], { env: elsewhere, ahead: 9 * hour })
    expect(over.stdout).toMatch(/not refreshed[^]*Nobody has refreshed since [^.]*\. Look/u)
  })

  it('says nothing of it while the refresh is not due, nor on a machine that refreshes', async () => {
    const [early, here] = await Promise.all([
      machine.run(['status'], { env: elsewhere, ahead: 5 * hour }),
      machine.run(['status'], { ahead: 7 * hour }),
    ])
    for (const { stdout } of [early, here]) expect(stdout).not.toContain('Nobody')
  })
})
