/**
 * One process of the fleet: a token manager with a keeper, and callers that ask for one account after the other.
 */
import { setAhead } from './clock.ts'
import { createSso, createTokenManager, keepSignedIn } from '@owner-sso/core'
import { keeping, requestBudget } from './figures.ts'
import type { ClockMessage, WorkerReport, WorkerSettings } from './messages.ts'
import { openStore } from './store.ts'

/** Milliseconds between two callers. */
const pace = 20

const settings: WorkerSettings = JSON.parse(process.env['FLEET_WORKER'] ?? '')
setAhead(settings.ahead)
process.on('message', ({ ahead }: ClockMessage) => setAhead(ahead))
// Ctrl-C in the terminal goes to all processes: the demo ends its workers, one by one, with SIGTERM.
process.on('SIGINT', () => undefined)
const asked = new Promise<void>((resolve) => {
  process.once('SIGTERM', () => resolve())
  process.once('disconnect', () => resolve())
})

const { store, close } = await openStore(settings.store)
const sso = createSso({ authUrl: settings.authUrl, regionalAuthUrls: [settings.regionalAuthUrl] })
const tokens = createTokenManager({ sso, store, rotationGrace: 60, ...(settings.hasBudget && { requestBudget }) })
const keeper = keepSignedIn(tokens, keeping)

const waiting = new Set<string>()
let served = 0

async function call(account: string): Promise<void> {
  if (waiting.has(account)) return
  waiting.add(account)
  // Whoever gets no token comes back in the next round.
  const isServed = await tokens.getAccessToken(account).then(
    () => true,
    () => false,
  )
  waiting.delete(account)
  if (isServed) served += 1
}

// Each process begins elsewhere.
let turn = Math.floor(Math.random() * settings.used.length)
const calls = setInterval(() => {
  const account = settings.used[(turn += 1) % settings.used.length]
  if (account !== undefined) void call(account)
}, pace)
const reports = setInterval(() => {
  const report: WorkerReport = { keeper: keeper.status().state, waiting: waiting.size, served }
  // A demo that is gone has no use for it: `disconnect` ends this process.
  process.send?.(report, undefined, undefined, () => undefined)
}, 500)

await asked
clearInterval(calls)
clearInterval(reports)
await keeper.stop()
await tokens.settled()
close()
process.exit(0)
