/** A week of one account at one broker: programs that we did not write, in four languages, and one sign-in for all of them. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { describeWithPrograms } from '../../support/programs.ts'
import { atEnd, command, conversationWith, start } from './processes.ts'

const account = 'plain@example.com'
const require = createRequire(import.meta.url)
const here = (name: string): string => join(import.meta.dirname, 'broker-week', name)
const clock = join(import.meta.dirname, '../../../examples/shared-proxy/test/clock.mjs')
const credential = 'correct horse'

/** Hours. */
const [week, step] = [168, 3]

describeWithPrograms('curl', 'python3')('a week of one account at one broker', () => {
  it('serves curl, a shell script, Python and three libraries for a week, from one sign-in, with no failed call', async () => {
    await using emulator: Emulator = await startEmulator({
      rotation: 'single-use',
      reuse: 'revoke-family',
      allowBrowsers: true,
    })
    const home = mkdtempSync(join(tmpdir(), 'owner-sso-week-'))
    atEnd(() => rmSync(home, { recursive: true, force: true }))
    const base = { PATH: process.env['PATH'], HOME: home, OWNER_API_URL: emulator.ownerApiUrl }
    const env = {
      ...base,
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_API_URL: emulator.ownerApiUrl,
      OWNER_SSO_KEYRING: 'off',
    }
    const ownerSso = async (...args: string[]): Promise<string> => {
      const child = start(process.execPath, [command, ...args], { ...env, OWNER_SSO_CREDENTIAL: credential }, [
        'ignore',
      ])
      if (child.stdout === null) throw new Error('It has no standard output.')
      const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
      return output.trim()
    }
    await ownerSso('login', '--account', account, '--no-input')

    const socket = join(home, 'broker.sock')
    const args = ['--import', clock, command, 'broker', '--port', '0', '--socket', socket, '--with-proxy']
    const broker = start(process.execPath, args, env, ['ignore', 'ipc'])
    if (broker.stdout === null) throw new Error('It has no standard output.')
    const [printed]: unknown[] = await once(broker.stdout, 'data')
    const [url = ''] = String(printed).split('\n')

    const program = async (name: string, scope: string, run: string, ...rest: string[]) => {
      const key = await ownerSso('broker', 'invite', name, '--scope', scope)
      const more = {
        BROKER_URL: url,
        BROKER_KEY: key,
        BROKER_SOCKET: socket,
        TESLAJS_SERVER: emulator.ownerApiUrl,
        ISSUER: `${emulator.authUrl}/oauth2/v3`,
      }
      return conversationWith(start(run, rest, { ...base, ...more }))
    }
    const programs = [
      await program('curl', 'token', 'sh', here('socket.sh')),
      await program('script', 'token', 'sh', here('program.sh')),
      await program('python', 'token', 'python3', here('program.py')),
      await program('openid-client', 'token', process.execPath, here('openid-program.mjs')),
      await program('own library', 'token', process.execPath, here('own-program.mjs')),
      await program(
        'npm client',
        'token',
        process.execPath,
        '--no-deprecation',
        here('npm-program.cjs'),
        require.resolve('teslajs'),
      ),
      await program('proxied', 'proxy', 'sh', here('proxied.sh')),
      await program('logger', 'token,proxy', process.execPath, here('one-bearer-program.mjs'), 'key'),
      await program('other logger', 'token,proxy', process.execPath, here('one-bearer-program.mjs'), 'refreshed'),
    ]

    const seen = new Set<string>()
    let calls = 0
    for (let hour = 0; hour <= week; hour += step) {
      const answers = await Promise.all(programs.map((ask) => ask()))
      calls += answers.length
      expect([hour, answers.map((answer) => answer.split(' ')[0])]).toEqual([hour, programs.map(() => '200')])
      for (const answer of answers) seen.add(answer.split(' ')[1] ?? '')
      emulator.clock.advance(step * 3600)
      const passed = once(broker, 'message')
      broker.send({ pass: step * 3600 })
      await passed
    }
    seen.delete('proxied')
    expect(calls).toBe(9 * 57)
    // One sign-in; a refresh for each token that was handed out after the first, and none sent twice. The last one may have
    // come too late in the week to be handed out.
    const { codeExchanges, tokenRefreshes, refreshRequests, replays, ownerApiRejections } = emulator.counters
    expect({ codeExchanges, replays, ownerApiRejections }).toEqual({
      codeExchanges: 1,
      replays: 0,
      ownerApiRejections: 0,
    })
    expect(refreshRequests).toBe(tokenRefreshes)
    expect([seen.size - 1, seen.size]).toContain(tokenRefreshes)
    expect(tokenRefreshes).toBeGreaterThanOrEqual(20)
    expect(tokenRefreshes).toBeLessThanOrEqual(28)
  }, 180_000)
})
