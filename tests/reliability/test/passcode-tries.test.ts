/** Five tries of a passcode: not for each process, not for each copy of the waiting sign-in, but for the sign-in. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import { storesOf, type StoreSettings } from './deployment/stores.ts'

const credentials = { identity: 'mfa@example.com', credential: 'correct horse' }
const emulator = useEmulator({ firewall: false, accounts: [{ ...credentials, totpSecret: 'JBSWY3DPEHPK3PXP' }] })

interface Answer {
  readonly account?: string
  readonly code?: string
  readonly triesLeft?: number
  /** The content of the session, sealed sign-in and all. */
  readonly session: object
}
type Instance = (body: object) => Promise<Answer>

const processes: ChildProcess[] = []
afterEach(async () => {
  await Promise.all(
    processes.splice(0).map(async (instance) => {
      const ended = once(instance, 'exit')
      instance.disconnect()
      await ended
    }),
  )
})

async function start(count: number, settings: StoreSettings): Promise<Instance[]> {
  const program = fileURLToPath(new URL('../test-artefacts/programs/sign-in-instance.js', import.meta.url))
  const env = {
    ...process.env,
    AUTH_URL: emulator.authUrl,
    STORE: JSON.stringify(settings),
    PENDING_LOGIN_KEY: randomBytes(32).toString('base64'),
  }
  return Promise.all(
    Array.from({ length: count }, async () => {
      const instance = fork(program, { env, execArgv: [] })
      processes.push(instance)
      const [port]: number[] = await once(instance, 'message')
      return async (body: object) => {
        const answer = await fetch(`http://127.0.0.1:${port}/`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        const json: Answer = JSON.parse(await answer.text())
        return json
      }
    }),
  )
}

const passcodesSent = (): number => emulator.requests.filter(({ path }) => path.endsWith('/mfa/verify')).length

describe.each(storesOf(1))('with a $name', ({ make }) => {
  it('three processes that are sent copies of one sign-in, all at once, try five passcodes together', async () => {
    const { settings, remove } = await make()
    const instances = await start(3, settings)
    const first = await instances[0]?.(credentials)
    expect(first).toMatchObject({ code: 'ERR_SSO_PASSCODE_REQUIRED', triesLeft: 5 })

    const right = emulator.accounts[0]?.passcode()
    const guesses = Array.from({ length: 1000 }, (_, index) => String(index).padStart(6, '0')).filter(
      (each) => each !== right,
    )
    const copies = [first?.session ?? {}]
    const triesLeft: (number | undefined)[] = []
    for (let round = 0; round < 6; round += 1) {
      // Each copy that there ever was, at each process, four times.
      const posts = copies.flatMap((session) =>
        instances.flatMap((post) => [post, post, post, post].map((each) => ({ session, each }))),
      )
      const answers = await Promise.all(posts.map(({ session, each }) => each({ session, passcode: guesses.pop() })))
      for (const answer of answers) {
        if (answer.code === 'ERR_SSO_PENDING_LOGIN_EXPIRED') continue
        triesLeft.push(answer.triesLeft)
        if (answer.triesLeft !== undefined) copies.push(answer.session)
      }
    }
    expect(passcodesSent()).toBe(5)
    expect(triesLeft).toEqual([4, 3, 2, 1, undefined])
    await remove()
  }, 120_000)
})

describe.each(storesOf(2))('with a $name', ({ make }) => {
  it('the right one among them signs in, at whichever process it arrives', async () => {
    const { settings, remove } = await make()
    const [one, other] = await start(2, settings)
    const begun = await one?.(credentials)
    const next = await other?.({ session: begun?.session, passcode: '000000' })
    expect(next?.triesLeft).toBe(4)
    const passcode = emulator.accounts[0]?.passcode()
    expect(await one?.({ session: begun?.session, passcode })).toMatchObject({ code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' })
    expect(await one?.({ session: next?.session, passcode })).toMatchObject({ account: credentials.identity })
    expect(await other?.({ session: next?.session, passcode })).toMatchObject({ code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' })
    expect(passcodesSent()).toBe(2)
    await remove()
  }, 60_000)
})
