/**
 * A deployment: the service, a store, and the processes of an application that share it, on clocks that the test moves.
 *
 * The service's own counters are the judge of everything; what the processes say of themselves only tells how calls ended.
 */
import { afterAll, afterEach, jest } from '@jest/globals'
import type { TokenSet } from '@owner-sso/core'
import { type Emulator, type EmulatorOptions, startEmulator } from '@owner-sso/emulator'
import { figure } from './figures.ts'
import type { StoreRow, StoreSettings } from './stores.ts'
import { type Answers, startWorker, type Worker, type WorkerSettings } from './worker.ts'

/** Seconds that an access token lives, by the service's own word. */
export const life = 8 * 60 * 60

/** The account's name in the store. */
export const account = 'ann'

export interface DeploymentOptions {
  readonly store: StoreRow
  readonly processes: number
  readonly emulator?: EmulatorOptions
  /** Options of `createSso` beside the address. */
  readonly service?: Readonly<Record<string, unknown>>
  /** Options of `createTokenManager` beside the store. */
  readonly manager?: WorkerSettings['manager']
  /** What is another for the worker of this number, and for those that take its place. */
  readonly role?: (index: number, emulator: Emulator) => Partial<Pick<WorkerSettings, 'service' | 'manager'>>
  /** How the workers are started, in turn; default: directly. */
  readonly hosts?: readonly (readonly string[])[]
}

export interface Deployment {
  readonly emulator: Emulator
  readonly store: StoreSettings
  /** The living ones. */
  readonly workers: readonly Worker[]
  readonly worker: (index: number) => Worker
  /** A sign-in of one of the service's accounts. It needs no login; the first worker saves it. */
  signIn(name?: string, identity?: string): Promise<void>
  tokens(identity?: string): Promise<TokenSet>
  /** Time passes: for the service, and for all workers but those left out, on both of their clocks. */
  pass(seconds: number, except?: readonly Worker[]): Promise<void>
  /** No process is in the middle of something: refreshes in the background have ended too. */
  calm(): Promise<void>
  /** The access token's whole life passes, and what the workers reported so far is forgotten: another round. */
  expire(): Promise<void>
  /** All workers ask at once, so many callers each. */
  ask(callers: number, name?: string): Promise<Answers>
  /** The process that has put its intent into the record, now or next. */
  holder(): Promise<Worker>
  /** A new process, in place of one that is gone or as one more; with other settings perhaps. @param role - its number */
  start(changes?: Partial<WorkerSettings>, role?: number): Promise<Worker>
  /** Kills it as `kill -9` does, and starts another. */
  replace(worker: Worker): Promise<Worker>
}

jest.setTimeout(figure(120_000, 4 * 60 * 60_000))

const idle: Worker[] = []
let closing: (() => Promise<void>)[] = []

afterEach(async () => {
  const closers = closing
  closing = []
  const failures: unknown[] = []
  for (const close of closers.toReversed()) await close().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
})

afterAll(async () => {
  await Promise.all(idle.map((worker) => worker.signal('SIGKILL')))
})

/** Registers what has to be ended after the test. */
export function atEnd(close: () => Promise<void>): void {
  closing.push(close)
}

/** Started for one test, and ended after it. */
export async function deploy(options: DeploymentOptions): Promise<Deployment> {
  const emulator = await startEmulator({ firewall: false, ...options.emulator })
  atEnd(() => emulator.close())
  const { settings: store, remove } = await options.store.make()
  atEnd(remove)
  const workers = new Map<Worker, number>()
  atEnd(async () => {
    await Promise.all([...workers.keys()].map(retire))
  })

  let passed = 0
  let started = 0
  const settings = (index: number): WorkerSettings => {
    const { service, manager } = options.role?.(index, emulator) ?? {}
    return {
      service: {
        authUrl: emulator.authUrl,
        regionalAuthUrls: [emulator.regionalAuthUrl],
        ...options.service,
        ...service,
      },
      manager: { ...options.manager, ...manager },
      store,
      clocks: { wall: passed * 1000, monotonic: passed * 1000 },
    }
  }

  const deployment: Deployment = {
    emulator,
    store,
    get workers() {
      return [...workers.keys()].filter((worker) => worker.alive())
    },
    worker(index) {
      const worker = deployment.workers[index]
      if (worker === undefined) throw new Error(`there is no worker ${index}`)
      return worker
    },
    async signIn(name = account, identity = 'plain@example.com') {
      await deployment.worker(0).signIn(name, await deployment.tokens(identity))
    },
    async tokens(identity = 'plain@example.com') {
      const response = await emulator.issueTokens(identity)
      const region = emulator.accounts.find((candidate) => candidate.identity === identity)?.region
      return {
        access_token: response.access_token,
        refresh_token: response.refresh_token,
        token_type: 'Bearer',
        expires_at: Math.floor(emulator.clock.now()) + (options.emulator?.accessTokenLifetime ?? life),
        auth_url: region === 'regional' ? emulator.regionalAuthUrl : emulator.authUrl,
      }
    },
    async pass(seconds, except = []) {
      passed += seconds
      emulator.clock.advance(seconds)
      const by = { wall: seconds * 1000, monotonic: seconds * 1000 }
      const moved = deployment.workers.filter((worker) => !except.includes(worker))
      await Promise.all(moved.map((worker) => worker.move(by)))
    },
    async calm() {
      await Promise.all(deployment.workers.map((worker) => worker.calm()))
    },
    async expire() {
      for (const worker of deployment.workers) worker.forget()
      await deployment.pass(life)
    },
    async ask(callers, name = account) {
      return together(await Promise.all(deployment.workers.map((worker) => worker.ask(name, callers))))
    },
    holder: () =>
      Promise.race(
        deployment.workers.map(async (worker) => {
          await worker.reached('after-intent')
          return worker
        }),
      ),
    async start(changes, role = started) {
      const launcher = options.hosts?.[started % options.hosts.length]
      started += 1
      const worker = launcher === undefined ? (idle.pop() ?? startWorker()) : startWorker(launcher)
      // In the order of their numbers, whichever is open first.
      workers.set(worker, role)
      await worker.open({ ...settings(role), ...changes })
      return worker
    },
    async replace(worker) {
      const [replacement] = await Promise.all([deployment.start({}, workers.get(worker)), worker.signal('SIGKILL')])
      return replacement
    },
  }
  await Promise.all(Array.from({ length: options.processes }, () => deployment.start()))
  return deployment

  /** Back to the pool, if it is one that any test could use. */
  async function retire(worker: Worker): Promise<void> {
    worker.continue()
    if (!worker.alive()) return
    if (options.hosts !== undefined) {
      await worker.signal('SIGKILL')
      return
    }
    await worker.close()
    idle.push(worker)
  }
}

/** The answers of several workers as one. */
export function together(answers: readonly Answers[]): Answers {
  const sum = (counts: readonly Readonly<Record<string, number>>[]): Record<string, number> => {
    const total: Record<string, number> = {}
    for (const [name, count] of counts.flatMap((each) => Object.entries(each))) total[name] = (total[name] ?? 0) + count
    return total
  }
  return {
    tokens: sum(answers.map(({ tokens }) => tokens)),
    failures: sum(answers.map(({ failures }) => failures)),
    owners: [...new Set(answers.flatMap(({ owners }) => owners))],
    comeBackIn: Math.max(0, ...answers.map(({ comeBackIn }) => comeBackIn)),
  }
}
