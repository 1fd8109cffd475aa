/** How often a sign-in may be tried (reliability scenario M3, statement S41). */
import { describe, expect, it } from '@jest/globals'
import { isSoak } from '../../../tests/support/runs.ts'
import { credential, startPortal } from './portal-under-test.ts'

/** Headers of a request that came through the proxy from this address. */
function from(address: string): Record<string, string> {
  return { 'x-forwarded-for': address, 'x-forwarded-proto': 'https' }
}

const guess = { identity: 'plain@example.com', credential: 'wrong battery' }

describe('sign-ins', () => {
  it('reach the service five times at most, however many guesses there are (M3)', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const page = await me.open('/sign-in')
    const spellings = ['plain@example.com', ' Plain@Example.com', 'PLAIN@EXAMPLE.COM ', '\uff50lain@example.com']
    const statuses: number[] = []
    // Of 25 guesses: a thousand in a soak.
    const batches = isSoak ? 40 : 8
    for (let batch = 0; batch < batches; batch += 1) {
      const answers = await Promise.all(
        Array.from({ length: 25 }, (_, index) =>
          me.send(page, '/sign-in', { identity: spellings[index % 4] ?? '', credential: `guess ${batch} ${index}` }),
        ),
      )
      statuses.push(...answers.map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(25 * batches - 5)
    expect(portal.emulator.counters.credentialChecks).toBeLessThanOrEqual(5)
    expect(portal.emulator.counters.loginPages).toBeLessThanOrEqual(5)
  }, 120_000)

  it('are rejected with the time to wait and a way back', async () => {
    const me = (await startPortal()).visitor()
    const page = await me.open('/sign-in')
    for (let tries = 0; tries < 5; tries += 1) await me.send(page, '/sign-in', guess)
    const refused = await me.send(page, '/sign-in', { ...guess, credential })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(890)
    expect(refused.text).toContain('Try again in 15 minutes')
    expect(refused.html).toContain('href="/sign-in"')
  })

  it('of another account go on', async () => {
    const me = (await startPortal()).visitor()
    const page = await me.open('/sign-in')
    for (let tries = 0; tries < 6; tries += 1) await me.send(page, '/sign-in', guess)
    expect((await me.send(page, '/sign-in', { identity: 'regional@example.com', credential })).status).toBe(303)
  })

  it('count one IPv6 network (/56) as one address, and its neighbour as another', async () => {
    const portal = await startPortal({ portal: { behindHttpsProxy: true } })
    const me = portal.visitor()
    const page = await me.open('/sign-in', from('2001:db8::1'))
    const attempt = async (address: string): Promise<number> =>
      (await me.send(page, '/sign-in', guess, { ...from(address), cookie: page.cookies[0]?.split(';')[0] ?? '' }))
        .status
    const household = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', '2001:db8:0:ff::1', '2001:db8::3']
    for (const address of household) expect(await attempt(address)).toBe(401)
    expect(await attempt('2001:db8:0:42::9')).toBe(429)
    expect(await attempt('2001:db8:0:100::1')).toBe(401)
  })

  it('are counted anew once one succeeded', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    for (let round = 0; round < 3; round += 1) {
      const page = await me.open('/sign-in')
      for (let tries = 0; tries < 3; tries += 1) {
        await me.send(page, '/sign-in', { ...guess, credential: `wrong ${round} ${tries}` })
      }
      const home = await me.follow(await me.send(page, '/sign-in', { ...guess, credential }))
      await me.send(home, '/sign-out')
    }
    expect(portal.emulator.counters.credentialChecks).toBe(12)
  })

  it('end at 30 from one address, whatever the accounts', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const page = await me.open('/sign-in')
    const statuses: number[] = []
    for (let tries = 0; tries < 32; tries += 1) {
      statuses.push(
        (await me.send(page, '/sign-in', { identity: `owner${tries}@example.com`, credential: 'x' })).status,
      )
    }
    expect(statuses.lastIndexOf(401)).toBe(29)
    expect(statuses.slice(30)).toEqual([429, 429])
  })
})
