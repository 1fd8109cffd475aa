/** Runs of the real manager are runs of the model: SPIN finds the same steps in the same order. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn, setTimeout as moment } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { account, fileOf, recordRun, type RecordedRun, type Step, stepsOf } from './recorded-run.ts'
import { type SmallService, startSmallService } from './small-service.ts'
import { describeWithSpin, type Verifier, verifierOf } from './spin.ts'

const patience = 300_000
const hour = 3_600_000
/** Longer than any intent lives. */
const tooLong = 131_000

/** What the managers' clocks are ahead: time passes when a run says so. */
let ahead = 0
let verifier: Verifier

beforeAll(async () => {
  const now = performance.now.bind(performance)
  jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  verifier = await verifierOf('trace.pml')
}, patience)
afterAll(() => verifier?.[Symbol.dispose]())

/** Whether the model can take these steps, in this order. */
async function isAllowed(steps: readonly Step[]): Promise<boolean> {
  const file = join(verifier.folder, 'run')
  writeFileSync(file, fileOf(steps))
  const { found, whole } = await verifier.explore({ RUN: file })
  if (found === undefined && whole) return false
  expect(found).toBe('end state in claim reached')
  return true
}

/** A holder that is under way is held up for longer than its intent lives. */
function passTooLong(run: RecordedRun): void {
  run.pauseHolder()
  ahead += tooLong
}

/** Some calls of three processes, with what goes wrong meanwhile, chosen by a seed. */
async function runOf(seed: number): Promise<Step[]> {
  await using service = await startSmallService()
  using run = recordRun(service)
  const calls: { readonly who: number; readonly ended: Promise<unknown> }[] = []
  const call = (who: number): void => {
    const manager = run.processes[who - 1]
    if (manager !== undefined && !gone.has(who))
      calls.push({ who, ended: manager.getAccessToken(account).catch(() => undefined) })
  }
  const everybody = (): void => [1, 2, 3].forEach(call)
  const gone = new Set<number>()
  const left = { in: 1, out: 1, lost: 2, ask: 3, crash: 1, pause: 2, end: 1, refuse: 2 }
  let state = seed
  const roll = (sides: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * sides)
  }
  const may = (kind: keyof typeof left): boolean => (left[kind] -= 1) >= 0
  const deeds: (() => Promise<void> | void)[] = [
    everybody,
    everybody,
    () => call(1 + roll(3)),
    () => void (service.answers = 'held'),
    () => letGo(service),
    () => may('end') && void (ahead += 2 * hour),
    () => may('lost') && void (service.answers = 'lost'),
    async () => may('in') && run.signIn(),
    async () => may('out') && run.signOut(),
    () => {
      const who = 1 + roll(3)
      if (gone.has(who) || run.isSending(who) || !may('ask')) return
      run.willRefresh(who)
      calls.push({ who, ended: Promise.resolve(run.processes[who - 1]?.refresh(account)).catch(() => undefined) })
    },
    // The owner API refuses what it was asked with, if that came of a refresh and the one before it works.
    async () => {
      const who = 1 + roll(3)
      const manager = run.processes[who - 1]
      const refused = run.newest()
      if (manager === undefined || gone.has(who) || refused === undefined || !may('refuse')) return
      await manager.invalidate(account, refused, { refresh: false })
    },
    () => {
      const holder = run.holder()
      if (holder === undefined || !may('crash')) return
      run.crash(holder)
      gone.add(holder)
    },
    () => may('pause') && passTooLong(run),
    () => may('pause') && passTooLong(run),
  ]

  await run.signIn()
  for (const manager of run.processes) await manager.getAccessToken(account)
  ahead += 7 * hour
  service.answers = roll(3) === 0 ? 'sent' : 'held'
  everybody()
  for (let count = 0; count < 10; count += 1) {
    await deeds[roll(deeds.length)]?.()
    for (let turns = roll(40); turns > 0; turns -= 1) await turn()
  }
  // Everything comes to its end.
  letGo(service)
  run.pauseHolder()
  ahead += 9 * hour
  everybody()
  const living = calls.filter(({ who }) => !gone.has(who)).map(({ ended }) => ended)
  const over = Promise.all(living).then(() => 'over')
  while ((await Promise.race([over, moment(50)])) !== 'over') {
    // The intent of a process that has crashed comes to its end.
    if (run.holder() === undefined) ahead += tooLong
  }
  await Promise.all(run.processes.filter((_, index) => !gone.has(index + 1)).map(async (manager) => manager.settled()))
  return stepsOf(run.seen, service)
}

function letGo(service: SmallService): void {
  service.answers = 'sent'
  service.release()
}

/** A sign-in, three reads, and the one refresh of process 1 as far as its answer. */
const oneRefresh: readonly Step[] = [
  { who: 0, name: 'sign-in', detail: 1 },
  { who: 1, name: 'read', detail: 1 },
  { who: 2, name: 'read', detail: 1 },
  { who: 1, name: 'intent', detail: 2 },
  { who: 1, name: 'request', detail: 1 },
  { who: 1, name: 'answer', detail: 2 },
]

interface Forgery {
  readonly title: string
  /** What the model allows, and what it does not after that. */
  readonly run: readonly Step[]
  readonly forged: Step
}

const signedOut: readonly Step[] = [...oneRefresh, { who: 0, name: 'sign-out', detail: 3 }]
const forgeries: readonly Forgery[] = [
  {
    title: 'a request without an intent',
    run: oneRefresh.slice(0, 3),
    forged: { who: 1, name: 'request', detail: 1 },
  },
  {
    title: 'a request under the intent of another',
    run: oneRefresh.slice(0, 5),
    forged: { who: 2, name: 'request', detail: 1 },
  },
  { title: 'an intent over a living intent', run: oneRefresh, forged: { who: 2, name: 'intent', detail: 3 } },
  { title: 'new tokens over a sign-out', run: signedOut, forged: { who: 1, name: 'new tokens', detail: 4 } },
  {
    title: 'a predecessor after a sign-out',
    run: [...oneRefresh, { who: 1, name: 'new tokens', detail: 3 }, { who: 0, name: 'sign-out', detail: 4 }],
    forged: { who: 1, name: 'fall back', detail: 5 },
  },
  {
    title: 'an intent without a look at what another has written',
    run: [...oneRefresh, { who: 1, name: 'new tokens', detail: 3 }],
    forged: { who: 2, name: 'intent', detail: 4 },
  },
]

describeWithSpin('a run of the real manager', () => {
  it(
    'is a run of the model',
    async () => {
      const seen = new Set<string>()
      for (let seed = 1; seed <= 60; seed += 1) {
        const steps = await runOf(seed)
        for (const { name } of steps) seen.add(name)
        const told = steps.map(({ who, name, detail }) => `${who}: ${name} ${detail}`)
        expect({ seed, told, isAllowed: await isAllowed(steps) }).toEqual({ seed, told, isAllowed: true })
      }
      expect(seen).toContain('fall back')
    },
    patience,
  )

  it.each(forgeries)('is no run of the model any more with $title', async ({ run, forged }) => {
    expect(await isAllowed(run)).toBe(true)
    expect(await isAllowed([...run, forged])).toBe(false)
  })
})
