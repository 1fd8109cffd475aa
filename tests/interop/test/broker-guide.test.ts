/** docs/guides/one-sign-in-for-every-program.md, followed from nothing to three programs: its own lines, with other ports. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { startEmulator } from '@owner-sso/emulator'
import { codeBlocksOf } from '../../support/code-blocks.ts'
import { describeWithPrograms } from '../../support/programs.ts'
import { atEnd, shellIn } from './processes.ts'

const blocks = codeBlocksOf('docs/guides/one-sign-in-for-every-program.md')
const vehicles = expect.stringMatching(/Daily[\s\S]*"?count"?['"]?: ?2/u)

describeWithPrograms('curl', 'python3')('the guide of the broker', () => {
  it('leads from nothing to three programs, of which one can be shut out', async () => {
    await using emulator = await startEmulator()
    const addresses = new Map([
      ['http://127.0.0.1:9000', emulator.authUrl],
      ['http://127.0.0.1:9001', emulator.ownerApiUrl],
      ['--port 8700', '--port 0'],
    ])
    /** A block of the guide, with the ports of this test. */
    const block = (name: string): string => {
      const code = blocks.find(({ marks }) => marks['interop'] === name)?.code
      if (code === undefined) throw new Error(`The guide has no block ${name}.`)
      return [...addresses].reduce((whole, [theirs, ours]) => whole.replaceAll(theirs, ours), code)
    }
    const home = mkdtempSync(join(tmpdir(), 'owner-sso-guide-'))
    atEnd(() => rmSync(home, { recursive: true, force: true }))
    const start = shellIn(home, { OWNER_SSO_AUTH_URL: emulator.authUrl, OWNER_SSO_CREDENTIAL: 'correct horse' })
    const printedBy = async (program: string, ...args: string[]): Promise<string> => {
      const { stdout } = start(program, ...args)
      return stdout === null ? '' : text(stdout)
    }

    const { stdout: broker } = start('sh', '-ec', block('broker-sign-in'))
    if (broker === null) throw new Error('It has no standard output.')
    const [printed]: unknown[] = await once(broker, 'data', { signal: AbortSignal.timeout(60_000) })
    addresses.set('http://127.0.0.1:8700', /^http:\S+/mu.exec(String(printed))?.[0] ?? '')

    await printedBy('sh', '-ec', block('broker-invite'))
    expect(statSync(join(home, 'heating.key')).mode & 0o777).toBe(0o600)
    expect(await printedBy('sh', '-ec', block('broker-shell'))).toEqual(vehicles)
    expect(await printedBy('python3', '-c', block('broker-heating'))).toEqual(vehicles)
    expect(await printedBy('sh', '-ec', block('broker-dashboard'))).toEqual(vehicles)

    await printedBy('sh', '-ec', block('broker-logger'))
    expect(statSync(join(home, 'logger.key')).mode & 0o777).toBe(0o600)

    const list = await printedBy('owner-sso', 'broker', 'list')
    expect(list).toMatch(/^heating .*\ndashboard .*\nlogger /u)
    await printedBy('owner-sso', 'broker', 'revoke', 'heating')
    expect(await printedBy('python3', '-c', block('broker-heating'))).toBe('')
    expect(await printedBy('sh', '-ec', block('broker-dashboard'))).toEqual(vehicles)
    expect(emulator.counters).toMatchObject({ codeExchanges: 1, replays: 0 })
  }, 180_000)
})
