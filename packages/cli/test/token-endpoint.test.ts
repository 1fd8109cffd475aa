/** A service whose token endpoint is on another host than its login page. */
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { type Machine, newMachine } from './machine.ts'

const emulator = useEmulator({ tokenEndpointAt: 'port' })
let machine: Machine
let env: NodeJS.ProcessEnv

beforeEach(() => {
  machine = newMachine(emulator)
  const { authUrl, tokenUrl, regionalAuthUrl, regionalTokenUrl } = emulator
  env = { OWNER_SSO_TOKEN_URL: JSON.stringify({ [authUrl]: tokenUrl, [regionalAuthUrl]: regionalTokenUrl }) }
})
afterEach(() => machine.remove())

it.each(['plain@example.com', 'regional@example.com'])('signs %s in there, and refreshes', async (account) => {
  expect(await machine.signIn(account, { env })).toMatchObject({ code: 0 })
  expect(await machine.run(['refresh'], { env })).toMatchObject({ code: 0 })
  expect(emulator.counters).toMatchObject({ codeExchanges: 1, tokenRefreshes: 1 })
})

it('doctor checks it, says which setting names it, and tells of a block there', async () => {
  const { code, stdout } = await machine.run(['doctor'], { env })
  expect(code).toBe(0)
  expect(stdout).toMatch(/tokenUrl +.*\(OWNER_SSO_TOKEN_URL\)/u)
  expect(stdout.match(/token endpoint +reached/gu)).toHaveLength(2)

  expect(await machine.signIn('plain@example.com', { env })).toMatchObject({ code: 0 })
  emulator.once('refresh', { firewall: true })
  const refused = await machine.run(['refresh'], { env: { ...env, TZ: 'Asia/Tokyo' } })
  expect(refused).toMatchObject({ code: 5, stderr: expect.not.stringContaining('password') })
  expect(refused.stderr).toMatch(/Try again in 1\d min, at (?:\d{4}-\d\d-\d\d )?\d\d:\d\d GMT\+9\./u)
  const blocked = await machine.run(['doctor'], { env })
  expect(blocked.code).toBe(5)
  expect(blocked.stdout).toContain(`The firewall of ${new URL(emulator.tokenUrl).host} blocks this machine`)
})
