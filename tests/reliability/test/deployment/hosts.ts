/** Two machines, as far as processes can tell: PID namespaces, each with its own /proc. Linux, as root. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { atEnd } from './deployment.ts'

export const namespacesWork: boolean =
  spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true'], { stdio: 'ignore' }).status === 0

export const machinesWork: boolean = spawnSync('unshare', ['--uts', 'true'], { stdio: 'ignore' }).status === 0

/** The command line that runs a program on a machine of that name (a UTS namespace). */
export function machine(name: string): readonly string[] {
  const program = `hostname ${name}; exec "$@"`
  return ['unshare', '--uts', 'sh', '-c', program, 'sh']
}

/** Starts a host; returns the command line that runs a program in it. */
export async function startHost(): Promise<readonly string[]> {
  // Its first process prints once it is there, and only waits from then on; with it, everything else in there ends.
  const program = 'echo started; exec sleep infinity'
  const first = spawn('unshare', ['--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(first.stdout, 'data')
  atEnd(async () => {
    const gone = once(first, 'exit')
    first.kill('SIGKILL')
    await gone
  })
  const { stdout } = spawnSync('pgrep', ['--parent', String(first.pid)], { encoding: 'utf8' })
  return ['nsenter', '--target', stdout.trim(), '--pid', '--mount', '--']
}
