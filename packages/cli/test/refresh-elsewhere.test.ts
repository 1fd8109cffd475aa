/** A machine that leaves refreshes to others: it asks no token endpoint, and says when nobody refreshes. */
import { useEmulator } from '@owner-sso/emulator/jest'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { useMachine } from './machine.ts'
import { storeLogin } from './signed-in.ts'

const account = 'plain@example.com'
const emulator = useEmulator()
const machine = useMachine(emulator)
const elsewhere = { OWNER_SSO_REFRESH: 'elsewhere', TZ: 'Asia/Tokyo' }
const hour = 3600

describe('where refresh is elsewhere', () => {
  let asked = 0
  beforeEach(async () => {
    await storeLogin(machine, emulator, account)
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
    const sentence =
      /Nobody has refreshed since .*\d\d:\d\d GMT\+9\. Works until .*\d\d:\d\d GMT\+9\. Look at the process that/u
    expect(shown.stdout).toMatch(sentence)
    expect(shown.stdout).not.toContain('next refresh')
    const [status] = JSON.parse((await machine.run(['status', '--json'], late)).stdout).accounts
    expect(status).toMatchObject({ state: 'valid', not_refreshed_since: status.obtained_at })
    expect(status.advice).toMatch(/^Nobody has refreshed since .*\d\d:\d\d UTC\./u)
    const found = await machine.run(['doctor'], late)
    expect(found.stdout).toMatch(sentence)
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
