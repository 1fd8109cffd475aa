/** One process of the fleet, from its parent's side: commands, what it reported, and signals. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type {
  AccountHistory,
  KeeperOptions,
  RefreshTokenGrant,
  TokenManagerEvents,
  TokenSet,
  TokenStatus,
} from '@owner-sso/core'
import type { StoreSettings } from './stores.ts'

/** What a worker is opened with; plain data. */
export interface WorkerSettings {
  readonly service: Readonly<Record<string, unknown>>
  /** Options of the token manager; the spool as it is opened. */
  readonly manager: Readonly<Record<string, unknown>> & { readonly spool?: StoreSettings }
  readonly store: StoreSettings
  /** Milliseconds ahead of the machine's clocks. */
  readonly clocks: Clocks
}

export interface Clocks {
  readonly wall: number
  readonly monotonic: number
}

/** How calls ended: counts by token (its fingerprint) and by error (its code, and reason). */
export interface Answers {
  readonly tokens: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number>>
  /** Whose the tokens are, as the service says. */
  readonly owners: readonly string[]
  /** Milliseconds after which those who failed are to come back, where they were told. */
  readonly comeBackIn: number
}

/** An event of the manager, or a point of a swap that was reached. */
export interface Report {
  readonly event?: keyof TokenManagerEvents
  readonly reached?: string
  readonly account: string
  readonly error?: string
  readonly reason?: string
  readonly replay?: boolean
  readonly spooled?: boolean
  readonly since?: number
}

/** What happens at a point: the refresh is held up until `release`, or the whole process is blocked. */
export type Action = { readonly kind: 'wait' } | { readonly kind: 'block'; readonly milliseconds: number }

export interface Worker {
  readonly pid: number
  readonly alive: () => boolean
  /** Everything it reported since it was opened, or since `forget`, oldest first. */
  readonly reports: readonly Report[]
  forget(): void
  /** Resolves at the next report, past or to come, that fits. */
  reported(fits: (report: Report) => boolean): Promise<Report>
  reached(point: string): Promise<Report>
  open(settings: WorkerSettings): Promise<void>
  close(): Promise<void>
  move(by: Partial<Clocks>): Promise<void>
  /** Both clocks stand still until `startClocks`; then they go on from there. */
  stopClocks(): Promise<void>
  startClocks(): Promise<void>
  ask(account: string, callers?: number): Promise<Answers>
  signIn(account: string, tokenSet: TokenSet | RefreshTokenGrant): Promise<void>
  logIn(account: string, credentials: { readonly identity: string; readonly credential: string }): Promise<void>
  signOut(account: string): Promise<void>
  /** Keeps all accounts signed in from now on. */
  keepSignedIn(options: Pick<KeeperOptions, 'within' | 'every'>): Promise<void>
  refresh(account: string): Promise<void>
  status(account: string): Promise<TokenStatus>
  history(account: string): Promise<AccountHistory>
  calm(): Promise<void>
  useOwnerApi(account: string, url: URL, callers: number): Promise<Readonly<Record<string, number>>>
  call(account: string, ownerApiUrl: string, callers: number): Promise<Readonly<Record<string, number>>>
  /** Remembers the current token under a name of the test's. */
  keep(account: string, name: string): Promise<void>
  /** Tells the manager that the owner API refused the token of that name. */
  invalidate(account: string, name: string): Promise<void>
  arm(point: string, action: Action): Promise<void>
  release(): Promise<void>
  /** Resolves once it is gone. */
  signal(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>
  stop(): void
  continue(): void
}

const script = fileURLToPath(new URL('../../test-artefacts/programs/worker-process.js', import.meta.url))

/** @param launcher - a command that runs the program behind it elsewhere, such as in a PID namespace */
export function startWorker(launcher: readonly string[] = []): Worker {
  const [program, ...args] = [...launcher, process.execPath, '--no-warnings', script]
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const reports: Report[] = []
  const listeners = new Set<(report: Report) => void>()
  const { call, answered } = calls(child)
  child.on('message', (message: Report & { id?: number }) => {
    if (message.id !== undefined) {
      answered(message)
      return
    }
    reports.push(message)
    for (const listener of listeners) listener(message)
  })
  const reported: Worker['reported'] = (fits) =>
    new Promise((resolve) => {
      const past = reports.find(fits)
      if (past) return resolve(past)
      const listener = (report: Report): void => {
        if (!fits(report)) return
        listeners.delete(listener)
        resolve(report)
      }
      listeners.add(listener)
    })
  const alive = (): boolean => child.exitCode === null && child.signalCode === null
  return {
    pid: child.pid ?? 0,
    alive,
    reports,
    forget: () => void (reports.length = 0),
    reported,
    reached: (point) => reported((report) => report.reached === point),
    async open(settings) {
      await call('open', settings)
      reports.length = 0
    },
    close: () => call('close'),
    move: (by) => call('move', by),
    stopClocks: () => call('stopClocks'),
    startClocks: () => call('startClocks'),
    ask: (account, callers = 1) => call('ask', { account, callers }),
    signIn: (account, tokenSet) => call('signIn', { account, tokenSet }),
    logIn: (account, credentials) => call('logIn', { account, ...credentials }),
    signOut: (account) => call('signOut', { account }),
    keepSignedIn: (options) => call('keepSignedIn', { options }),
    refresh: (account) => call('refresh', { account }),
    status: (account) => call('status', { account }),
    history: (account) => call('history', { account }),
    calm: () => call('calm'),
    useOwnerApi: (account, url, callers) => call('useOwnerApi', { account, url: url.href, callers }),
    call: (account, ownerApiUrl, callers) => call('call', { account, ownerApiUrl, callers }),
    keep: (account, name) => call('keep', { account, name }),
    invalidate: (account, name) => call('invalidate', { account, name }),
    arm: (point, action) => call('arm', { point, action }),
    release: () => call('release'),
    async signal(signal) {
      if (!alive()) return child.exitCode
      const gone = once(child, 'exit')
      child.kill(signal)
      await gone
      return child.exitCode
    },
    stop: () => void child.kill('SIGSTOP'),
    continue: () => void child.kill('SIGCONT'),
  }
}

/** Commands by message, and their answers; all outstanding ones fail when the process ends. */
function calls(child: ChildProcess): {
  call: <Answer>(command: string, details?: object) => Promise<Answer>
  answered: (message: { id?: number; value?: unknown; failure?: string }) => void
} {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let last = 0
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the worker is gone'))
    waiting.clear()
  })
  return {
    call: (command, details = {}) =>
      new Promise((resolve, reject) => {
        const id = (last += 1)
        waiting.set(id, { resolve, reject })
        child.send({ id, command, ...details }, (error) => error && reject(new Error('the worker is gone')))
      }),
    answered({ id = 0, value, failure }) {
      const call = waiting.get(id)
      waiting.delete(id)
      if (failure === undefined) call?.resolve(value as never)
      else call?.reject(Object.assign(new Error(failure), { code: failure }))
    },
  }
}
