/** Which processes are provably dead, with real ones (B1: a crash on the same host is noticed at once). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { afterEach, describe, expect, it } from '@jest/globals'
import { processStat } from '../../src/index.ts'
import { currentHolder, type Holder, livenessOf } from '../../src/support/holder.ts'

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
    expect(livenessOf(currentHolder())).toBe(linux ? 'running' : 'unknown')
  })

  it('is dead once its process is gone', async () => {
    const { pid, kill } = await child()
    const { started: _, ...host } = currentHolder()
    const holder = { ...host, pid }
    // Without its start time nothing says that it is the same process.
    expect(livenessOf(holder)).toBe('unknown')
    await kill()
    expect(livenessOf(holder)).toBe(linux ? 'dead' : 'unknown')
  })

  // The shell becomes a program that never asks how its child ended.
  if (linux) {
    it('is dead once it has ended, although nobody has asked yet how', async () => {
      const script = 'exec 3<&0; (read end <&3) & echo $!; exec sleep 100'
      const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] })
      owned.push(parent)
      const [line] = await once(createInterface(parent.stdout), 'line')
      const holder = { ...currentHolder(), pid: Number(line), started: processStat(Number(line))?.started ?? '' }
      expect(livenessOf(holder)).toBe('running')
      const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
      while (readFileSync(`/proc/${parent.pid}/comm`, 'utf8') !== 'sleep\n') await turn()
      parent.stdin.end()
      while (processStat(holder.pid)?.ended !== true) await turn()
      expect(processStat(holder.pid)?.started).toBe(holder.started)
      expect(livenessOf(holder)).toBe('dead')
    })
  }

  it('is dead where another process has its number now', () => {
    expect(livenessOf({ ...currentHolder(), started: '1' })).toBe(linux ? 'dead' : 'unknown')
  })

  it.each([
    ['another boot', { boot: 'another' }],
    ['another PID namespace', { pidNamespace: 'pid:[1]' }],
  ])('of %s is unknown, whatever its number says here', (_, elsewhere) => {
    expect(livenessOf({ ...currentHolder(), pid: 2 ** 22, ...elsewhere })).toBe('unknown')
  })

  it('of a host that tells nothing is unknown', () => {
    expect(livenessOf({ pid: 2 ** 22 })).toBe('unknown')
  })
})

/** A container may have a clock of its own since boot, as one that was restored from a checkpoint has. */
const shifted = ['--time', '--boottime', '1000', '--fork', '--kill-child']
const timeNamespacesWork = spawnSync('unshare', [...shifted, 'true'], { stdio: 'ignore' }).status === 0
if (!timeNamespacesWork) console.warn('Skipped: time namespaces need Linux 5.6, unshare of util-linux 2.36, and root.')
const inTimeNamespace = timeNamespacesWork ? describe : describe.skip

const owned: ChildProcess[] = []
afterEach(() => owned.forEach((process) => process.kill('SIGKILL')))

inTimeNamespace('a holder in a time namespace of its own', () => {
  it('is not dead while it runs, though its start time reads otherwise there; and is once it is gone', async () => {
    const module = new URL('../../dist/support.js', import.meta.url).href
    const program = `import(${JSON.stringify(module)}).then(({ currentHolder }) => console.log(JSON.stringify(currentHolder())))`
    const unshare = spawn('unshare', [...shifted, process.execPath, '-e', `${program}; setInterval(() => {}, 1000)`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    owned.push(unshare)
    const ended = once(unshare, 'exit')
    const [line] = await once(createInterface(unshare.stdout), 'line')
    const holder: Holder = JSON.parse(String(line))
    expect(holder).toMatchObject({ pidNamespace: currentHolder().pidNamespace, boot: currentHolder().boot })
    expect(livenessOf(holder)).toBe('unknown')
    // As an older release described it.
    const { timeNamespace, ...older } = holder
    expect(timeNamespace).not.toBe(currentHolder().timeNamespace)
    expect(livenessOf(older)).toBe('unknown')
    process.kill(holder.pid, 'SIGKILL')
    await ended
    expect([livenessOf(holder), livenessOf(older)]).toEqual(['dead', 'dead'])
  })
})
