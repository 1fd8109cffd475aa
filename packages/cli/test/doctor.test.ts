import { once } from 'node:events'
import { chmodSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createTokenManager } from '@owner-sso/core'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type CallOptions, credential, type Machine, newMachine, until } from './machine.ts'
import { storeLogin } from './signed-in.ts'

interface Finding {
  readonly about: string
  readonly level: string
  readonly text: string
  readonly fix?: string
}

let emulator: Emulator
let machine: Machine

afterEach(async () => {
  machine.remove()
  await emulator.close()
})

describe('owner-sso doctor, over TLS', () => {
  beforeEach(async () => {
    emulator = await startEmulator({ tls: true })
    machine = newMachine(emulator)
  })

  it('says which TLS version was agreed, and that the clock is right; and makes no login', async () => {
    const ca = machine.file('ca.pem', emulator.ca ?? '')
    const { code, findings } = await findingsOf([], { env: { OWNER_SSO_CA: ca } })
    expect(code).toBe(0)
    expect(findings.map(({ text }) => text)).toEqual(
      expect.arrayContaining(['reached over TLSv1.2', 'right, to 1 s', `${ca} (OWNER_SSO_CA)`]),
    )
    expect(emulator.counters).toMatchObject({ loginPages: 1, formPosts: 0, challenges: 0 })
  })

  it('asks for the CA where the certificate is not trusted', async () => {
    const { code, findings } = await findingsOf([])
    expect(code).toBe(7)
    expect(problems(findings)[0]?.fix).toContain('--ca')
  })
})

describe('owner-sso doctor', () => {
  beforeEach(async () => {
    emulator = await startEmulator()
    machine = newMachine(emulator)
  })

  it('finds nothing wrong on a new machine, says where each setting came from, and reads well', async () => {
    const { code, stdout } = await machine.run(['doctor'])
    expect(code).toBe(0)
    expect(stdout).toContain(`${emulator.authUrl} (OWNER_SSO_AUTH_URL)`)
    expect(stdout.trim().endsWith('No problem was found.')).toBe(true)
  })

  it.each([
    ['no service is named', { OWNER_SSO_AUTH_URL: '' }, 2, '--auth-url'],
    ['nothing listens', { OWNER_SSO_AUTH_URL: 'http://127.0.0.1:1' }, 7, 'and the port'],
    ['the store is down', { OWNER_SSO_STORE: 'redis://127.0.0.1:1' }, 6, 'Start it'],
    ['certificates are not checked', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 2, 'Unset it'],
    ['the CA is no file', { OWNER_SSO_CA: '/nowhere.pem' }, 2, 'Correct --ca'],
  ])('%s: says how to mend it', async (_name, env, code, fix) => {
    const result = await findingsOf([], { env })
    expect(result.code).toBe(code)
    expect(problems(result.findings).map((finding) => finding.fix)).toEqual([expect.stringContaining(fix)])
  })

  it('calls no setting good that is wrong, and does not say that what it fell back to was set', async () => {
    const { findings } = await findingsOf([], { env: { OWNER_SSO_SERVICE: 'curent' } })
    expect(problems(findings).map(({ text }) => text)).toEqual([expect.stringMatching(/^service must be one of/u)])
    expect(JSON.stringify(findings)).not.toMatch(/curent|\(OWNER_SSO_SERVICE\)/u)
  })

  it('sees a clock that is wrong', async () => {
    const { findings } = await findingsOf([], { ahead: 120 })
    expect(findings.find(({ about }) => about === 'clock')?.text).toMatch(/clock is 1(?:19|2\d) s ahead/u)
  })

  it.each([
    [403, 'text/html; charset=utf-8', true],
    [429, 'text/html', true],
    [404, 'text/html', false],
    [403, 'application/json', false],
    [500, undefined, false],
  ])('takes an answer %i of the type %s for a firewall’s: %s', async (status, type, isFirewall) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { ...(type !== undefined && { 'content-type': type }) }).end('<title>x</title>')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const { code, findings } = await findingsOf([], { env: { OWNER_SSO_AUTH_URL: `http://127.0.0.1:${port}` } })
    server.close()
    expect(code).toBe(isFirewall ? 5 : 0)
    expect(problems(findings).map(({ text }) => text)).toEqual(isFirewall ? [`A firewall answers (${status}).`] : [])
  })

  it('tells of a block that is remembered, for how long, and sends nothing to that host', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    emulator.firewall.block()
    expect((await machine.run(['refresh'])).code).toBe(5)
    const { host } = new URL(emulator.authUrl)
    const sent = (): number => emulator.requests.filter((request) => request.host === host).length
    const before = sent()
    const { code, findings } = await findingsOf([])
    expect(code).toBe(5)
    expect(problems(findings).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^The firewall of 127.0.0.1:\d+ blocks this machine: .* for another 1[4-9] min\.$/u),
    ])
    expect(sent()).toBe(before)
  })

  it('tells of a refresh in doubt, of one under way for too long, and of hard links, and how to mend each', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    expect((await findingsOf([])).findings.find(({ about }) => about === 'hard links')?.text).toContain('has them')
    emulator.once('refresh', { drop: 'after-commit' })
    await machine.run(['refresh'])
    const doubt = (await findingsOf([], { ahead: 600 })).findings.find(({ about }) => about === 'tokens')
    expect(doubt?.text).toBe('plain@example.com: A refresh was sent, and its answer did not come (UNREACHABLE).')
    expect(doubt?.fix).toMatch(/at once by owner-sso refresh\. What that rests on: owner-sso why plain@example\.com$/u)
    // A process that is alive, and has hung since it began: this one.
    const store = fileTokenStore({ path: machine.tokensFolder })
    let sent = false
    const refresh = (): Promise<never> => {
      sent = true
      return new Promise(() => undefined)
    }
    const tokens = createTokenManager({ issuer: { refresh }, store })
    await tokens.save('slow@example.com', {
      access_token: 'old',
      refresh_token: 'spent',
      token_type: 'Bearer',
      expires_at: 1,
      auth_url: emulator.authUrl,
    })
    const waiting = new AbortController()
    const call = tokens.getAccessToken('slow@example.com', { signal: waiting.signal }).catch(() => undefined)
    await until(() => sent)
    const args = ['--account', 'slow@example.com']
    const underWay = (found: readonly Finding[]) => found.find(({ text }) => text.startsWith('slow@example.com: '))
    const by = `by process ${process.pid} on ${hostname()}`
    expect(underWay((await findingsOf(args)).findings)?.text).toContain(`It is being refreshed now, ${by}`)
    const hung = underWay((await findingsOf(args, { ahead: 600 })).findings)
    expect(hung?.text).toContain(`its process did not come back, ${by}`)
    expect(hung?.fix).toContain('Look why that process ended or stands still')
    waiting.abort()
    await call
  })

  it('asks which account is meant where several are signed in', async () => {
    for (const account of ['plain@example.com', 'regional@example.com']) await storeLogin(machine, emulator, account)
    const { code, findings } = await findingsOf([])
    expect(code).toBe(2)
    expect(problems(findings).map(({ text }) => text)).toEqual([
      'Several accounts are signed in and none is named: plain@example.com, regional@example.com.',
    ])
    expect((await findingsOf(['--account', 'plain@example.com'])).code).toBe(0)
  })

  it('finds folders that others can read, or change', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    chmodSync(machine.tokensFolder, 0o755)
    const readable = await findingsOf([])
    expect(readable.code).toBe(6)
    expect(problems(readable.findings)[0]?.fix).toContain('chmod 700')
    chmodSync(machine.tokensFolder, 0o777)
    expect((await findingsOf([])).code).toBe(6)
  })

  it('warns of a password in the environment, and of a config file that others can change, but shows no value', async () => {
    mkdirSync(join(machine.home, '.config', 'owner-sso'), { recursive: true })
    chmodSync(machine.file('.config/owner-sso/config.json', '{"account": "ann@example.com"}'), 0o666)
    const { stdout } = await machine.run(['doctor'], { env: { OWNER_SSO_CREDENTIAL: credential, HTTPS_PROXY: 'x' } })
    expect(stdout).toContain('ann@example.com')
    expect(stdout).toContain('The password is in OWNER_SSO_CREDENTIAL')
    expect(stdout).toMatch(/HTTPS_PROXY is set, but not used.*set OWNER_SSO_PROXY/su)
    expect(stdout).toContain('Run chmod 600')
    expect(stdout).not.toContain(credential)
    const lines = await machine.run(['doctor'], { env: { OWNER_SSO_CREDENTIAL: `${credential}\nann` } })
    expect(lines).toMatchObject({ code: 2, stdout: expect.stringContaining('OWNER_SSO_CREDENTIAL has several lines') })
    expect(lines.stdout).not.toContain(credential)
  })
})

async function findingsOf(
  args: readonly string[],
  options: CallOptions = {},
): Promise<{ code: number | null; findings: Finding[] }> {
  const { code, stdout, stderr } = await machine.run(['doctor', '--json', ...args], options)
  if (stdout === '') throw new Error(stderr)
  return { code, findings: JSON.parse(stdout).findings }
}

function problems(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ level }) => level === 'problem')
}
