/**
 * Which process wrote a file, and whether it is still there. A process id alone is given again to others.
 */
import { processStat } from '@owner-sso/token-manager'
import { codeOf } from './disk.ts'

export interface ProcessName {
  readonly pid: number
  /** Clock ticks between the machine's start and the process's, from /proc; `0` where the system has no /proc. */
  readonly started: string
}

let own: ProcessName | undefined

export function thisProcess(): ProcessName {
  return (own ??= { pid: process.pid, started: processStat(process.pid)?.started ?? '0' })
}

/**
 * Whether this very process runs here. One in another PID namespace or on another host counts as gone: what is done to its
 * temporary files only makes it try again.
 */
export function isAlive({ pid, started }: ProcessName): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false
  }
  if (started === '0') return true
  const stat = processStat(pid)
  return stat !== undefined && stat.started === started && !stat.ended
}
