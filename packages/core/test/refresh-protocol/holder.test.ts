/** Which processes are provably dead, with real ones (B1: a crash on the same host is noticed at once). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import { currentHolder, vitality } from '../../src/refresh-protocol/holder.ts'

const linux = process.platform === 'linux'

async function child(): Promise<{ pid: number; kill: () => Promise<unknown> }> {
  const started = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  await once(started, 'spawn')
  const ended = once(started, 'exit')
  return {
    pid: started.pid ?? 0,
    kill: () => {
      started.kill('SIGKILL')
      return ended
    },
  }
}

describe('the holder of an intent', () => {
  it('is this process, described the same each time and without anything secret', () => {
    expect(currentHolder()).toBe(currentHolder())
    expect(currentHolder().pid).toBe(process.pid)
    expect(vitality(currentHolder())).toBe(linux ? 'running' : 'unknown')
  })

  it('is dead once its process is gone', async () => {
    const { pid, kill } = await child()
    const { started: _, ...host } = currentHolder()
    const holder = { ...host, pid }
    // Without its start time nothing says that it is the same process.
    expect(vitality(holder)).toBe('unknown')
    await kill()
    expect(vitality(holder)).toBe(linux ? 'dead' : 'unknown')
  })

  it('is dead where another process has its number now', () => {
    expect(vitality({ ...currentHolder(), started: '1' })).toBe(linux ? 'dead' : 'unknown')
  })

  it.each([
    ['another boot', { boot: 'another' }],
    ['another PID namespace', { pidNamespace: 'pid:[1]' }],
  ])('of %s is unknown, whatever its number says here', (_, elsewhere) => {
    expect(vitality({ ...currentHolder(), pid: 2 ** 22, ...elsewhere })).toBe('unknown')
  })

  it('of a host that tells nothing is unknown', () => {
    expect(vitality({ pid: 2 ** 22 })).toBe('unknown')
  })
})
