/** What goes on until it is told to stop: proxy, broker, keeper and the watched status, each inside this process, told once. */
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { useEmulator } from '@owner-sso/emulator/jest'
import { expect, it, jest } from '@jest/globals'
import { freePort } from '../../../tests/support/free-port.ts'
import { callerOf, home, said, setTerminal } from './in-process.ts'
import { credential, ended, newMachine, until } from './machine.ts'

const emulator = useEmulator()
const { begin, call, settled } = callerOf(emulator)

/** What a server answers: its status, and the answer's body. */
async function answered(url: string, headers: Record<string, string> = {}, socketPath?: string): Promise<string> {
  const [answer] = await once(request(url, { headers, ...(socketPath && { socketPath }) }).end(), 'response')
  return `${answer.statusCode} ${await text(answer)}`
}

it('a proxy says why the owner API can’t be reached to whoever runs it alone, and ends on Ctrl-C', async () => {
  const machine = newMachine(emulator)
  await machine.signIn('plain@example.com')
  const port = await freePort()
  const child = machine.start(['proxy', '--api-url', `http://127.0.0.1:${port}`])
  const end = ended(child)
  const [url] = await once(child.stdout ?? child, 'data')
  expect(await answered(`${String(url).trim()}/api/1/vehicles`)).toMatch(/^502 (?!.*(?:ECONN|127\.0\.0\.1))/su)
  child.kill('SIGINT')
  const { code, stderr } = await end
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(new RegExp(`^ERR_OWNER_API_UNREACHABLE: .*ECONNREFUSED.*:${port}$`, 'mu')),
  ])
  machine.remove()
})

it('says where it is and what to do there, answers, and ends with nothing half-way', async () => {
  const { interrupt } = await import('../src/interruption.ts')
  const login = { OWNER_SSO_CREDENTIAL: credential }
  await call('login --account plain@example.com', login)
  const running: Promise<number>[] = []
  const shown: string[] = []
  /** Begins a call, and waits until it has said its last word for now. @returns the first address that it printed */
  const begun = async (line: string, word = 'Ctrl-C ends it.', variables: NodeJS.ProcessEnv = {}): Promise<string> => {
    running.push(begin(line, variables))
    await until(() => said.join('').includes(word))
    shown.push(`$ owner-sso ${line}\n${said.join('')}`)
    return /http:\/\/[\d.]+:\d+/u.exec(said.join(''))?.[0] ?? ''
  }

  const proxy = await begun('proxy')
  const vehicles = `${proxy}/api/1/vehicles`
  const calls = emulator.counters.ownerApiCalls
  const refusals = [
    await answered(vehicles, { origin: 'https://evil.example' }),
    await answered(vehicles, { 'sec-fetch-site': 'cross-site' }),
    await answered(vehicles, { host: 'evil.example' }),
    await answered(`${proxy}/admin`),
    await answered(vehicles, { connection: 'upgrade', upgrade: 'websocket' }),
  ]
  expect(refusals.map((answer) => Number.parseInt(answer, 10))).toEqual([403, 403, 403, 404, 501])
  expect(emulator.counters.ownerApiCalls).toBe(calls)
  expect(await answered(vehicles)).toMatch(/^200 .*"count": ?2/su)
  // Offered by clients of HTTP/2 with every call over plain http.
  expect(await answered(vehicles, { connection: 'upgrade', upgrade: 'h2c' })).toMatch(/^200 /u)
  for (const line of [`proxy --port ${new URL(proxy).port}`, 'proxy --account nobody@example.com'])
    shown.push((await call(line)).replaceAll(new URL(proxy).port, 'PORT'))
  const nowhere = await begun('proxy --json --api-url http://127.0.0.1:1')
  expect(await answered(`${nowhere}/api/1/vehicles`)).toMatch(/^502 /su)
  expect(said.at(-1)).toMatch(/^2> \{"note":"ERR_OWNER_API_UNREACHABLE: .+"\}\n$/u)

  const [socket, audit] = [join(home, 'here.sock'), join(home, 'audit.log')]
  const broker = await begun('broker --port 0 --socket H/here.sock --audit H/audit.log --with-proxy')
  expect([statSync(socket).mode & 0o777, (await answered('http://broker/token', {}, socket)).slice(0, 4)]).toEqual([
    0o600,
    '200 ',
  ])
  expect(await answered(`${broker}/token`)).toMatch(/^401 /u)
  const asked = async (from: string, path: string, host: string): Promise<unknown[]> => {
    const [answer] = await once(request(`${from}${path}`, { headers: { host } }).end(), 'response')
    answer.resume()
    return [answer.statusCode, answer.headers['strict-transport-security'], answer.headers['set-cookie']?.join('')]
  }
  const open = await begun('broker --json --port 0 --public-url https://broker.example')
  expect(await asked(broker, '/status', new URL(broker).host)).toEqual([
    200,
    undefined,
    expect.not.stringContaining('Secure'),
  ])
  expect(await asked(broker, '/status', 'broker.example')).not.toContain(200)
  expect(await asked(open, '/status', 'broker.example')).toEqual([
    200,
    'max-age=31536000',
    expect.stringMatching(/; Path=\/status; .*; Secure$/u),
  ])
  expect(await asked(open, '/token', 'broker.example')).toEqual([401, undefined, undefined])

  // One that can't be told of an account is told of here.
  const alerts = { OWNER_SSO_STORE: `file:${home}/alerts` }
  await call('login --account regional@example.com', { ...login, ...alerts })
  await call('broker invite heating --account regional@example.com', alerts)
  const secret = said[0]?.trim()
  const alerting = await begun('broker --port 0 --alert-command H/nowhere.sh', undefined, alerts)
  emulator.expireRefreshTokens('regional@example.com')
  const refreshed = await call('refresh', alerts)
  await until(() => {
    // Each call of a program makes the broker look.
    void answered(`${alerting}/token`, { authorization: `Bearer ${secret}` }).catch(() => undefined)
    return `${refreshed}${said.join('')}`.includes('2> Alert by command: ')
  })
  await begun('keep --within 2h --every 10m', 'Next at')
  await begun('keep --json --store file:H/nobody', '"ended"')
  setTerminal(true)
  shown.push(await call('status --watch --json'))
  Object.assign(process.stdout, { rows: 24 })
  jest.spyOn(process.stdout, 'write').mockImplementation((words) => said.push(`1> ${String(words)}`) > 0)
  await begun('status --watch', undefined, { NO_COLOR: '1' })
  const before = said.length

  setTerminal(false)
  interrupt(143)
  interrupt()
  expect(await Promise.all(running)).toEqual(running.map(() => 0))
  shown.push(
    said
      .slice(before)
      .filter((words) => !words.startsWith('1> \u001B[H'))
      .join(''),
    await call('login --account plain@example.com', login),
  )
  await expect(answered(proxy)).rejects.toThrow('ECONNREFUSED')
  expect(existsSync(socket)).toBe(false)
  expect(readFileSync(audit, 'utf8')).toMatch(/^\{.*"event":"token".*\}\n\{.*"ERR_BROKER_UNKNOWN_KEY"\}\n$/u)
  expect(
    settled(shown.join('\n'))
      .replaceAll(/127\.0\.0\.1:\d\d+/gu, 'HERE')
      .replaceAll('\u001B', 'ESC')
      // However often it was drawn.
      .replaceAll(/(1> ESC\[H.*?ESC\[J\n?)(?:1> ESC\[H.*?ESC\[J\n?)*/gsu, '$1')
      .replaceAll(/[█░]+/gu, 'BAR'),
  ).toMatchSnapshot()
}, 60_000)
