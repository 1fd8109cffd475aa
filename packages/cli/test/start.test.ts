import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import nodeModule from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { command, credential, type Machine, newMachine } from './machine.ts'

const listing = fileURLToPath(new URL('loaded-files.cjs', import.meta.url))
const emulator = useEmulator()
let machine: Machine

beforeAll(async () => {
  machine = newMachine(emulator)
  await machine.signIn('plain@example.com')
})
afterAll(async () => {
  machine.remove()
})

it('token loads no more than it needs', async () => {
  const loaded = await loadedBy('token')
  const files = ['main.cjs', 'main-program.cjs', 'start.cjs', 'rolldown-runtime.cjs', 'token.cjs']
  expect(loaded.map((file) => file.replace(/^.*\//u, '')).toSorted()).toEqual(files.toSorted())
})

it('--help loads what the commands say of themselves, and nothing that they work with', async () => {
  const loaded = await loadedBy('--help')
  expect(loaded.join(' ')).toMatch(/doctor\.cjs/u)
  expect(loaded.filter((file) => /node_modules|serve|programs|redis|browser|scripted-login/u.test(file))).toEqual([])
})

it.each(['status', 'accounts', 'refresh', 'doctor'])('%s loads no Redis client, no proxy, no prompts', async (args) => {
  const loaded = await loadedBy(args)
  expect(loaded.filter((file) => /node_modules|proxy|prompts|redis/u.test(file))).toEqual([])
})

it('a sign-in with a password loads nothing of the browser window, of fetch and of forms', async () => {
  const { stderr } = await watched('login --account plain@example.com', { OWNER_SSO_CREDENTIAL: credential })
  expect(stderr).toMatch(/MODULES .* http .*LOADED .*http-session/su)
  expect(stderr).not.toMatch(/MODULES .* internal\/deps\/undici\/undici\s/u)
  expect(stderr).not.toMatch(/LOADED .*(?:browser-sign-in|pasted-address|window|fetch-adapter|form-data)/u)
})

it('token loads no sockets and starts no process', async () => {
  const { stderr } = await watched('token')
  expect(stderr).toMatch(/MODULES .* crypto /u)
  expect(stderr).not.toMatch(/MODULES .* (?:net|http|child_process|internal\/deps\/undici\/undici) /u)
})

it('a sign-in does not look through the folder where there is no keyring', async () => {
  const env = {
    OWNER_SSO_CREDENTIAL: credential,
    OWNER_SSO_KEYRING: 'on',
    DBUS_SESSION_BUS_ADDRESS: '',
    XDG_RUNTIME_DIR: '',
  }
  const { stderr } = await watched('login --account plain@example.com', env)
  expect(stderr).toMatch(/no keyring here/u)
  const [, listed] = /LISTED (\d+)/u.exec(stderr) ?? []
  expect(Number(listed)).toBeLessThan(20)
})

it('a sign-in does not load the Public Suffix List', async () => {
  const loaded = await loadedBy('login --account plain@example.com', { OWNER_SSO_CREDENTIAL: credential })
  expect(loaded.join(' ')).toMatch(/scripted-login\.cjs/u)
  expect(loaded.join(' ')).not.toMatch(/public-suffix-list/u)
})

describe('the cache of compiled code', () => {
  const hasCache = 'enableCompileCache' in nodeModule

  it.each<[string, (home: string) => NodeJS.ProcessEnv, string]>([
    ['~/.cache', () => ({}), '.cache'],
    ['XDG_CACHE_HOME', (home) => ({ XDG_CACHE_HOME: join(home, 'there') }), 'there'],
    ['~/.cache where that is relative', () => ({ XDG_CACHE_HOME: 'here' }), '.cache'],
  ])('lies in %s, where Node has one', async (_name, envOf, folder) => {
    expect((await machine.run(['--version'], { env: envOf(machine.home) })).code).toBe(0)
    expect(existsSync(join(machine.home, folder, 'owner-sso', 'compiled'))).toBe(hasCache)
  })

  it('does no harm where it can’t be written', async () => {
    const { code, stderr } = await machine.run(['--version'], { env: { XDG_CACHE_HOME: '/dev/null' } })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('Skipped: a user that no list knows needs root (run the tests as root).')
const asRoot = isRoot || process.env['CI'] === 'true' ? describe : describe.skip

asRoot('a user without HOME and without an entry in the list of users', () => {
  it.each([
    ['--version', 0, /^\d/u],
    ['status', 0, /Nobody is signed in/u],
    ['login --account ann@example.com', 6, /\/dev\/null.* could not be read \(ENOTDIR\).*choose another store/su],
  ])('gets a sentence of %s', (args, status, words) => {
    const env: NodeJS.ProcessEnv = { ...machine.env, OWNER_SSO_CREDENTIAL: credential }
    delete env['HOME']
    const call = spawnSync(process.execPath, [command, ...args.split(' ')], {
      env,
      uid: 54_321,
      cwd: '/',
      encoding: 'utf8',
    })
    expect(call.status).toBe(status)
    expect(call.stdout + call.stderr).toMatch(words)
    expect(call.stderr).not.toContain('    at ')
  })
})

it('brings the licenses of what is bundled along', () => {
  const notices = readFileSync(join(command, '..', 'THIRD-PARTY-LICENSES.txt'), 'utf8')
  for (const name of ['axios', 'commander', 'cheerio', 'tough-cookie', '@clack/prompts', 'otpauth']) {
    expect(notices).toContain(`\n${name} `)
  }
})

/** The files of a call, from Node's own list. */
async function loadedBy(args: string, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const { stderr } = await watched(args, env)
  const [, list = ''] = stderr.split('LOADED ')
  return JSON.parse(list)
}

/** A call that says at its end what it did. */
function watched(args: string, env: NodeJS.ProcessEnv = {}): Promise<{ stderr: string }> {
  return promisify(execFile)(process.execPath, ['--require', listing, command, ...args.split(' ')], {
    env: { ...machine.env, ...env },
  })
}
