/**
 * The fleet: accounts that are signed in, and the processes that keep them so.
 */
import { createSso, createTokenManager, type TokenManager } from '@owner-sso/core'
import type { Emulator } from '@owner-sso/emulator'
import { night, numberOfWorkers, tokenLife } from './figures.ts'
import type { WorkerSettings } from './messages.ts'
import type { SharedStore } from './shared-store.ts'
import { startWorker, type WorkerProcess } from './worker-process.ts'

export interface Fleet {
  /** Those that callers ask for. */
  readonly used: readonly string[]
  /** Those that nobody asks for. */
  readonly unused: readonly string[]
  readonly workers: readonly WorkerProcess[]
  /** For reading alone. */
  readonly tokens: TokenManager
  readonly hasBudget: () => boolean
  /** Eight hours pass at once, on every clock: all access tokens are over. */
  readonly passNight: () => void
  /** Kills the process whose keeper sweeps, or else the next one in turn. */
  readonly kill: () => void
  /** Starts all processes again, with the budget or without. */
  readonly setBudget: (isOn: boolean) => Promise<void>
  readonly close: () => Promise<void>
}

/** @param place - of the store, as the workers open it */
export async function startFleet(
  { store }: SharedStore,
  { emulator, place, accounts }: { readonly emulator: Emulator; readonly place: string; readonly accounts: number },
): Promise<Fleet> {
  const { authUrl, regionalAuthUrl } = emulator
  const tokens = createTokenManager({ sso: createSso({ authUrl, regionalAuthUrls: [regionalAuthUrl] }), store })
  const names = Array.from({ length: accounts }, (_, index) => `owner-${index + 1}`)
  for (const name of names) await tokens.save(name, await tokenSet(emulator))
  const used = names.slice(0, Math.ceil((accounts * 2) / 3))

  let hasBudget = true
  let ahead = 0
  const settings = (): WorkerSettings => ({ authUrl, regionalAuthUrl, store: place, used, ahead, hasBudget })
  const workers = Array.from({ length: numberOfWorkers }, () => startWorker(settings))
  let turn = 0
  let change = Promise.resolve()
  return {
    used,
    unused: names.slice(used.length),
    workers,
    tokens,
    hasBudget: () => hasBudget,
    passNight() {
      ahead += night
      emulator.clock.advance(night)
      for (const worker of workers) worker.moveClocks(ahead)
    },
    kill() {
      const alive = workers.filter((worker) => worker.pid() !== undefined)
      const sweeping = alive.find((worker) => worker.report()?.keeper === 'sweeping')
      const victim = sweeping ?? alive[(turn += 1) % alive.length]
      victim?.kill()
    },
    setBudget(isOn) {
      hasBudget = isOn
      change = change.then(async () => void (await Promise.all(workers.map((worker) => worker.renew()))))
      return change
    },
    async close() {
      await change
      await Promise.all(workers.map((worker) => worker.close()))
    },
  }
}

/** Of a sign-in some time ago: not all of them end together, unless a night passes. */
async function tokenSet(emulator: Emulator): Promise<Parameters<TokenManager['save']>[1]> {
  const { access_token, refresh_token } = await emulator.issueTokens('plain@example.com')
  const life = tokenLife * (0.4 + 0.6 * Math.random())
  const expires_at = Math.floor(emulator.clock.now() + life)
  return { access_token, refresh_token, token_type: 'Bearer', expires_at, auth_url: emulator.authUrl }
}
