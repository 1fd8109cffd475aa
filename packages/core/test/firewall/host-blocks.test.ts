/** What a challenge page means for the calls after it, in the process that met it. */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createSso, type Sso } from '../../src/index.ts'
import { goodTokens, html, type SmallService, startSmallService } from '../small-service.ts'

const start = Date.UTC(2026, 10, 21, 12) / 1000
let service: SmallService
let sso: Sso
/** What both clocks show, in seconds. */
let wall: number
let monotonic: number

beforeEach(async () => {
  service = await startSmallService()
  sso = createSso({ authUrl: service.authUrl })
  ;[wall, monotonic] = [start, 0]
  jest.spyOn(Date, 'now').mockImplementation(() => wall * 1000)
  jest.spyOn(performance, 'now').mockImplementation(() => monotonic * 1000)
})
afterEach(async () => {
  jest.restoreAllMocks()
  await service.close()
})

/** What a refresh ends with: the end of the wait that it was told of, and whether anything was sent. */
async function refreshed(at = sso): Promise<unknown> {
  const old = { ...goodTokens, expires_at: 0, auth_url: at.authUrl }
  const before = service.requests.length
  const outcome = await at.refresh(old).then(
    () => 'tokens',
    ({ nextAttemptAt }: { nextAttemptAt?: number }) => nextAttemptAt,
  )
  return { outcome, sent: service.requests.length > before }
}

/** From now on the service answers with its firewall's page. */
function challenge(retryAfter?: string): void {
  const headers = { 'content-type': 'text/html', ...(retryAfter !== undefined && { 'retry-after': retryAfter }) }
  service.answer({ token: { ...html('<title>Access Denied</title>', 403), headers } })
}

const passAll = (): void => service.answer({ token: { body: JSON.stringify(goodTokens) } })
const pass = (seconds: number): void => {
  wall += seconds
  monotonic += seconds
}

describe('after a challenge page', () => {
  it.each<[string | undefined, number]>([
    [undefined, 900],
    ['', 900],
    ['120', 120],
    [' 120 ', 120],
    ['0', 60],
    ['1', 60],
    ['315360000', 86_400],
    ['999999999999999', 86_400],
    ['Sat, 21 Nov 2026 13:00:00 GMT', 3600],
    ['Saturday, 21-Nov-26 13:00:00 GMT', 3600],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 60],
    ['Thu, 21 Nov 2036 12:00:00 GMT', 86_400],
    ['Wed, 99 Foo 2026 25:61:61 GMT', 900],
    ['-5', 900],
    ['1.5', 900],
    ['1e3', 900],
    ['soon', 900],
    ['2026', 2026],
    ['tomorrow 2027', 900],
    ['99999999999999999999', 900],
  ])(
    'calls wait as long as Retry-After %j says, between a minute and a day: %i s (I3)',
    async (retryAfter, seconds) => {
      challenge(retryAfter)
      expect(await refreshed()).toEqual({ outcome: start + seconds, sent: true })
    },
  )

  it('nothing is sent until that moment, and not after it', async () => {
    challenge()
    await refreshed()
    passAll()
    pass(899)
    expect(await refreshed()).toEqual({ outcome: start + 900, sent: false })
    pass(1)
    expect(await refreshed()).toEqual({ outcome: 'tokens', sent: true })
  })

  it('other hosts are called all the same', async () => {
    challenge()
    await refreshed()
    const other = await startSmallService()
    const regional = createSso({ authUrl: service.authUrl, regionalAuthUrls: [other.authUrl] })
    await regional.refresh({ ...goodTokens, expires_at: 0, auth_url: other.authUrl })
    expect(other.requests).toHaveLength(1)
    await other.close()
  })

  it('the wait gets no shorter where another request, which was under way, brings a shorter one', async () => {
    const answers: ((retryAfter: string) => void)[] = []
    const bothWait = new Promise<void>((resolve) =>
      service.answer({
        token: (_request, response) => {
          answers.push((retryAfter) => {
            response.writeHead(403, { 'content-type': 'text/html', 'retry-after': retryAfter })
            response.end('<title>Access Denied</title>')
          })
          if (answers.length === 2) resolve()
        },
      }),
    )
    const calls = [refreshed(), refreshed()]
    await bothWait
    answers[0]?.('3600')
    await Promise.race(calls)
    answers[1]?.('60')
    const told = { outcome: start + 3600, sent: true }
    expect(await Promise.all(calls)).toEqual([told, told])
    pass(3599)
    expect(await refreshed()).toEqual({ outcome: start + 3600, sent: false })
  })

  it('a clock that is put back makes the wait no longer', async () => {
    challenge()
    await refreshed()
    passAll()
    ;[wall, monotonic] = [start - 86_400, 899]
    expect(await refreshed()).toEqual({ outcome: wall + 1, sent: false })
    monotonic = 900
    expect(await refreshed()).toEqual({ outcome: 'tokens', sent: true })
  })

  it('nor does a machine that sleeps', async () => {
    challenge()
    await refreshed()
    passAll()
    wall += 900
    expect(await refreshed()).toEqual({ outcome: 'tokens', sent: true })
  })
})
