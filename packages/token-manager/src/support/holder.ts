/**
 * Which process holds an intent, and whether it is provably dead: so that a crash on the same host is noticed at once.
 *
 * Only Linux says enough for a proof (boot id, PID namespace, time namespace, start time). Elsewhere, and on other hosts,
 * nothing is provable and an intent simply reaches the end of its life.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** The process that holds an intent, exact enough to tell on its own host that it is dead. */
export interface Holder {
  readonly pid: number
  /** The name of its machine, for people. */
  readonly host?: string
  /** Kernel ticks from boot to the process's start; tells a reused pid. Absent where the system doesn't say. */
  readonly started?: string
  /** One boot of one machine. */
  readonly boot?: string
  /** The PID namespace that `pid` is a number of. */
  readonly pidNamespace?: string
  /** The time namespace (time_namespaces(7)) that `started` was read in. Absent in records of older releases and kernels. */
  readonly timeNamespace?: string
}

/** `dead` and `running` are proofs; everything else is `unknown`. */
export type Liveness = 'dead' | 'running' | 'unknown'

let current: Holder | undefined

export function currentHolder(): Holder {
  current ??= describe()
  return current
}

function describe(): Holder {
  const told = {
    started: processStat(process.pid)?.started,
    boot: orUndefined(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidNamespace: orUndefined(() => readlinkSync('/proc/self/ns/pid')),
    timeNamespace: orUndefined(() => readlinkSync('/proc/self/ns/time')),
  }
  const known = Object.entries(told).filter(([, value]) => value !== undefined)
  return { pid: process.pid, host: hostname(), ...Object.fromEntries(known) }
}

export function livenessOf(holder: Holder): Liveness {
  const { boot, pidNamespace, timeNamespace } = currentHolder()
  const sameHost = boot !== undefined && pidNamespace !== undefined && holder.boot === boot
  if (!sameHost || holder.pidNamespace !== pidNamespace) return 'unknown'
  if (!exists(holder.pid)) return 'dead'
  const process = processStat(holder.pid)
  if (process?.ended === true) return 'dead'
  // The kernel shifts start times by the boot time of the namespace they are read in: those of another can't be compared.
  if (process === undefined || holder.started === undefined || holder.timeNamespace !== timeNamespace) return 'unknown'
  return process.started === holder.started ? 'running' : 'dead'
}

/** Asks the kernel rather than /proc, which may hide the processes of other users. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(typeof error === 'object' && error !== null && 'code' in error && error.code === 'ESRCH')
  }
}

function orUndefined<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

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
