/** `npm run demo:shared-proxy` after the build. */
import { exec } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { call } from './deployment.ts'
import { run } from './instance.ts'
import type { Program } from '../../../tests/support/program.ts'
import { describeWithRedis } from '../../../tests/support/redis-server.ts'

const shell = promisify(exec)

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describeWithRedis('the demo', () => {
  let demo: Program
  let url = ''
  let pids: readonly number[] = []
  let commands: readonly string[] = []
  beforeAll(async () => {
    demo = run('demo', { environment: { PORT: '0' }, group: true })
    await demo.prints(/kill -9.*\n/u)
    ;[, url = ''] = await demo.prints(/Shared proxy: (\S+)/u)
    pids = [...demo.printed().matchAll(/process (\d+)/gu)].map(([, pid]) => Number(pid))
    commands = [...demo.printed().matchAll(/^ {2}(curl .*)$/gmu)].map(([, command = '']) => command)
  })
  afterAll(async () => {
    if (demo.child.exitCode === null) demo.child.kill('SIGTERM')
    await demo.exitCode
  })

  it('prints commands that work', async () => {
    const outputs: string[] = []
    for (const command of commands) outputs.push((await shell(command)).stdout)
    expect(outputs).toEqual([
      expect.stringMatching(/^\{"response":\[\{/u),
      expect.stringMatching(/^\{"response":\[/u),
      expect.stringContaining('data: {"tick":5}'),
      expect.stringContaining('"ready":true'),
      expect.stringContaining('owner_sso_store_up 1'),
    ])
  })

  it('goes on when nobody reads what its instances log', async () => {
    const [, key = ''] = /Bearer ([^']+)'/u.exec(commands[0] ?? '') ?? []
    const [, service = ''] = /SSO service +(\S+)/u.exec(demo.printed()) ?? []
    demo.child.stdout?.destroy()
    for (const account of ['plain@example.com', 'mfa@example.com', 'regional@example.com']) {
      await fetch(`${service}/_emulator/accounts/${account}/access-tokens`, { method: 'DELETE' })
      // An instance refreshes, and logs it.
      const headers = { authorization: `Bearer ${key}`, 'x-owner-account': account }
      expect(await call(`${url}/api/1/vehicles`, headers)).toMatchObject({ status: 200 })
    }
  })

  it('goes on answering when one instance is killed, as it invites people to', async () => {
    const [, key = ''] = /Bearer ([^']+)'/u.exec(commands[0] ?? '') ?? []
    const headers = { authorization: `Bearer ${key}`, 'x-owner-account': 'plain@example.com' }
    const [killed = 0] = pids
    process.kill(killed, 'SIGKILL')
    while (isAlive(killed)) await new Promise((resolve) => setTimeout(resolve, 2))
    for (let round = 0; round < 4; round += 1) {
      expect(await call(`${url}/api/1/vehicles`, headers)).toMatchObject({ status: 200 })
    }
  })

  it('leaves no process behind when Ctrl-C ends it', async () => {
    expect(pids).toHaveLength(3)
    // As the terminal does, to the whole group; and once more by the package manager.
    process.kill(-(demo.child.pid ?? 0), 'SIGINT')
    demo.child.kill('SIGINT')
    expect(await demo.exitCode).toBe(0)
    expect(pids.filter(isAlive)).toEqual([])
    expect(() => process.kill(-(demo.child.pid ?? 0), 0)).toThrow('ESRCH')
  })
})

describe('the demo on a machine without Redis', () => {
  it('says what to install', async () => {
    const demo = run('demo', { environment: { PATH: '/nowhere' } })
    expect(await demo.exitCode).toBe(1)
    expect(demo.printed()).toMatch(
      /^The demo could not start: there is no redis-server on the PATH\. Install it .*\n$/u,
    )
  })
})
