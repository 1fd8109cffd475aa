/** docs/guides/registered-application.md, followed from the secret to two programs: its own lines, with other addresses. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { startEmulator } from '@owner-sso/emulator'
import { codeBlocksOf } from '../../support/code-blocks.ts'
import { describeWithPrograms } from '../../support/programs.ts'
import { atEnd, shellIn } from './processes.ts'

const blocks = codeBlocksOf('docs/guides/registered-application.md')
const clientSecret = 'a secret of theirs'

describeWithPrograms('curl')('the guide of a registered application', () => {
  it('leads from the secret to two programs, by one sign-in', async () => {
    await using emulator = await startEmulator({ service: 'registered', clientId: 'your-application', clientSecret })
    const addresses = new Map([
      ['https://auth.example.com', emulator.authUrl],
      ['https://tokens.example.com', emulator.tokenUrl],
      ['https://api.eu.example.com', emulator.ownerApiUrl],
      ['ann@example.com', 'plain@example.com'],
      ['--port 8700', '--port 0'],
    ])
    /** A block of the guide, with the addresses of this test. */
    const block = (name: string): string => {
      const code = blocks.find(({ marks }) => marks['interop'] === `application-${name}`)?.code
      if (code === undefined) throw new Error(`The guide has no block ${name}.`)
      return [...addresses].reduce((whole, [theirs, ours]) => whole.replaceAll(theirs, ours), code)
    }
    const home = mkdtempSync(join(tmpdir(), 'owner-sso-guide-'))
    atEnd(() => rmSync(home, { recursive: true, force: true }))
    const shell = shellIn(home, {})
    // No window can open here.
    const start = (script: string): ChildProcess => shell('sh', '-ec', script)
    const outputOf = ({ stdout, stderr }: ChildProcess) => {
      if (stdout === null || stderr === null) throw new Error('It has no standard output.')
      return { stdout, stderr }
    }

    const keeping = start(block('secret'))
    keeping.stdin?.end(`${clientSecret}\n`)
    await once(keeping, 'exit')
    expect(statSync(join(home, 'client-secret')).mode & 0o777).toBe(0o600)

    const signIn = start(block('settings') + block('sign-in'))
    let told = ''
    for await (const line of createInterface({ input: outputOf(signIn).stderr })) {
      told += `${line}\n`
      if (line.startsWith(emulator.authUrl)) signIn.stdin?.end(`${await emulator.signInByHand(line)}\n`)
    }
    expect(told).toContain('Signed in as plain@example.com')

    const broker = outputOf(start(block('settings') + block('broker')))
    const [printed]: unknown[] = await once(broker.stdout, 'data', { signal: AbortSignal.timeout(60_000) })
    addresses.set('http://127.0.0.1:8700', /^http:\S+/mu.exec(String(printed))?.[0] ?? '')
    const answers = await text(outputOf(start(block('programs'))).stdout)
    expect(answers).toMatch(/^\{"access_token":"[^"]+","refresh_token":"owner-sso-[\s\S]*Daily/u)
    expect(answers + told).not.toContain(clientSecret)
    expect(emulator.counters).toMatchObject({ codeExchanges: 1, ownerApiRejections: 0, replays: 0 })
  }, 120_000)
})
