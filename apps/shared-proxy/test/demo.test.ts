/** `npm run demo:shared-proxy` after the build. */
import { exec } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { atEnd, call, useRedis } from './deployment.ts'
import { type Program, run } from './instance.ts'
import { describeWithRedis } from './redis-server.ts'

const shell = promisify(exec)

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A demo that is over with the test, whatever happens. */
function startDemo(): Program {
  const demo = run('demo', { environment: { PORT: '0' }, group: true })
  atEnd(async () => {
    if (demo.child.exitCode === null) demo.child.kill('SIGTERM')
    await demo.exitCode
  })
  return demo
}

async function guide({ prints, printed }: Program): Promise<{ url: string; pids: number[]; commands: string[] }> {
  await prints(/kill -9.*\n/u)
  const [, url = ''] = await prints(/Shared proxy: (\S+)/u)
  return {
    url,
    pids: [...printed().matchAll(/process (\d+)/gu)].map(([, pid]) => Number(pid)),
    commands: [...printed().matchAll(/^ {2}(curl .*)$/gmu)].map(([, command = '']) => command),
  }
}

describeWithRedis('the demo', () => {
  useRedis()

  it('prints commands that work, and Ctrl-C leaves no process behind', async () => {
    const demo = startDemo()
    const { pids, commands } = await guide(demo)
    expect(pids).toHaveLength(3)
    expect(commands).toHaveLength(5)
    const outputs: string[] = []
    for (const command of commands) outputs.push((await shell(command)).stdout)
    expect(outputs[0]).toMatch(/^\{"response":\[\{/u)
    expect(outputs[1]).toMatch(/^\{"response":\[/u)
    expect(outputs[2]).toContain('data: {"tick":5}')
    expect(outputs[3]).toContain('"ready":true')
    expect(outputs[4]).toContain('owner_sso_redis_up 1')

    // As the terminal does: to the whole group, and once more by the package manager.
    process.kill(-(demo.child.pid ?? 0), 'SIGINT')
    demo.child.kill('SIGINT')
    expect(await demo.exitCode).toBe(0)
    expect(pids.filter(isAlive)).toEqual([])
    expect(() => process.kill(-(demo.child.pid ?? 0), 0)).toThrow('ESRCH')
  })

  it('goes on answering when one instance is killed, as it invites people to', async () => {
    const demo = startDemo()
    const { url, pids, commands } = await guide(demo)
    const [, key = ''] = /Bearer ([^']+)'/u.exec(commands[0] ?? '') ?? []
    const headers = { authorization: `Bearer ${key}`, 'x-owner-account': 'plain@example.com' }
    process.kill(pids[0] ?? 0, 'SIGKILL')
    for (let round = 0; round < 4; round += 1) {
      expect(await call(`${url}/api/1/vehicles`, headers)).toMatchObject({ status: 200 })
    }
    demo.child.kill('SIGTERM')
    expect(await demo.exitCode).toBe(0)
    expect(pids.filter(isAlive)).toEqual([])
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
