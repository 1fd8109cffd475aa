/**
 * What Linux says of a process, so that a process that has died is not mistaken for another with the same number.
 */
import { readFileSync } from 'node:fs'

/** One process, from `/proc/PID/stat` (proc_pid_stat(5)). */
export interface ProcessStat {
  /** When it started, in clock ticks since the machine did (field 22). The number alone is given again to others. */
  readonly started: string
  /** Whether only its entry is left: a zombie, or dead (field 3). */
  readonly ended: boolean
}

/** `undefined` where there is no such process, or no /proc. */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field, the program's name in parentheses, may hold anything: count from its end.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const started = rest[18]
    return state === undefined || started === undefined ? undefined : { started, ended: state === 'Z' || state === 'X' }
  } catch {
    return undefined
  }
}
