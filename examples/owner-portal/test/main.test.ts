/** `npm start` after the build, as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startEmulator } from '@owner-sso/emulator'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type Program, programOf } from '../../../tests/support/program.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function start(environment: Record<string, string>): Program {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [main], { env: { PATH, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  return programOf(child)
}

/** Signs a demo account in. Returns its cookies. */
async function signedIn(url: string): Promise<string> {
  const page = await fetch(`${url}/sign-in`)
  const hidden = [...(await page.text()).matchAll(/<input[^>]*type="hidden"[^>]*name="([^"]+)"[^>]*value="([^"]*)"/gu)]
  const body = new URLSearchParams([
    ...hidden.map(([, name = '', value = '']): [string, string] => [name, value]),
    ['identity', 'plain@example.com'],
    ['credential', 'correct horse'],
  ])
  const cookies = cookiesOf(page)
  const headers = { cookie: cookies, origin: url }
  const answer = await fetch(`${url}/sign-in`, { method: 'POST', body, headers, redirect: 'manual' })
  expect(answer.headers.get('location')).toBe('/')
  return `${cookies}; ${cookiesOf(answer)}`
}

const cookiesOf = ({ headers }: Response): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

describe('npm start', () => {
  it('prints the address and the demo accounts with a passcode, and Ctrl-C ends all of it', async () => {
    const { child, prints, printed, exitCode } = start({ PORT: '0' })
    const [, url = ''] = await prints(/Owner portal: (http:\/\/127\.0\.0\.1:\d+)/u)
    await prints(/regional@example\.com .*\n/u)
    expect(printed()).toMatch(/plain@example\.com {5}password: correct horse\n/u)
    expect(printed()).toMatch(/mfa@example\.com {7}password: correct horse {2}passcode \d{6} \(for \d+ seconds?;/u)
    const [, emulator = ''] = await prints(/emulator at (http:\/\/127\.0\.0\.1:\d+)/u)
    const [, inspector = ''] = await prints(/Inspector: +(http:\S+) +\(watch each sign-in here\)/u)
    expect((await fetch(inspector)).status).toBe(200)
    const page = await (await fetch(`${url}/sign-in`)).text()
    expect(page).toContain('Demo accounts')
    expect(page).toContain(`href="${inspector}"`)

    child.kill('SIGINT')
    // The terminal's own and the package manager's: both arrive.
    child.kill('SIGINT')
    expect(await exitCode).toBe(0)
    await expect(fetch(url)).rejects.toThrow('fetch failed')
    await expect(fetch(emulator)).rejects.toThrow('fetch failed')
  })

  it('ends with SIGTERM as well', async () => {
    const { child, prints, exitCode } = start({ PORT: '0' })
    await prints(/regional@example\.com .*\n/u)
    child.kill('SIGTERM')
    expect(await exitCode).toBe(0)
  })

  it('signs in with the service that OWNER_SSO_AUTH_URL names, over the transport that it is told, and starts no emulator', async () => {
    await using emulator = await startEmulator({ tls: true, http2: true, strictness: 'lenient' })
    const { prints, printed } = start({
      PORT: '0',
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_API_URL: emulator.ownerApiUrl,
      OWNER_SSO_TRANSPORT: JSON.stringify({
        tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', ca: emulator.ca },
        http2: true,
      }),
    })
    const [, url = ''] = await prints(/Owner portal: (http:\/\/127\.0\.0\.1:\d+)/u)
    await prints(/It signs in with http/u)
    expect(printed()).not.toMatch(/demo|passcode/iu)
    expect(await (await fetch(`${url}/sign-in`)).text()).not.toContain('Demo accounts')
    const home = await fetch(url, { headers: { cookie: await signedIn(url) } })
    expect(await home.text()).toContain('Your vehicles')
    const { host } = new URL(emulator.authUrl)
    const wires = emulator.requests.map((each) => `${each.host === host} ${each.tlsVersion} ${each.httpVersion}`)
    expect(new Set(wires)).toEqual(new Set(['true TLSv1.3 2', 'false TLSv1.3 1.1']))
  })

  it('lets a refresh under way come to its end before it ends', async () => {
    await using emulator = await startEmulator({ accessTokenLifetime: 600 })
    const { child, prints, exitCode } = start({
      PORT: '0',
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_API_URL: emulator.ownerApiUrl,
    })
    const [, url = ''] = await prints(/Owner portal: (http:\/\/127\.0\.0\.1:\d+)/u)
    const cookie = await signedIn(url)
    // The owner API refuses the token, and the page waits for another one.
    emulator.once('owner-api', { status: 401 })
    let release = (): void => undefined
    emulator.once('refresh', { hold: new Promise<void>((resolve) => (release = resolve)), commit: 'after' })
    const page = fetch(url, { headers: { cookie } }).catch(() => 'cut off')
    while (emulator.counters.tokenRefreshes === 0) await pause(20)
    child.kill('SIGTERM')
    expect(await page).toBe('cut off')
    // Nothing is left to wait for but the answer.
    await pause(500)
    expect(child.exitCode).toBeNull()
    release()
    expect(await exitCode).toBe(0)
  })

  it('takes another port where the one asked for is busy, and says so', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const address = squatter.address()
    const port = typeof address === 'object' && address !== null ? String(address.port) : ''
    const { prints } = start({ PORT: port })
    const [, other] = await prints(/Owner portal: http:\/\/127\.0\.0\.1:(\d+)/u)
    await prints(new RegExp(`Port ${port} is in use`, 'u'))
    expect(other).not.toBe(port)
    squatter.close()
  })

  it.each([
    [{ PORT: 'x' }, 'The portal could not start: PORT must be'],
    [
      { OWNER_SSO_AUTH_URL: 'ftp://auth.example.com', OWNER_SSO_API_URL: 'https://api.example.com' },
      'The portal could not start: authUrl',
    ],
    [{ HOST: '203.0.113.1' }, 'The portal could not start: listen EADDRNOTAVAIL'],
  ])('says in one sentence why it can’t start with %j', async (environment, sentence) => {
    const { exitCode, printed } = start({ ...environment })
    expect(await exitCode).toBe(1)
    expect(printed()).toContain(sentence)
    expect(printed()).not.toMatch(/^\s+at /mu)
  })
})
