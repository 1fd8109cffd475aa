/**
 * One cell of the table: a candidate, a fault, a service and a store of its own. The candidate's processes ask for a token every four
 * minutes, five callers each, until the fault has struck, and for two hours more.
 *
 * Between rounds the clocks of all processes jump; while a fault lasts, time is real, and everybody asks every few seconds. So nothing is
 * scaled: locks, intents and time limits live as long here as anywhere.
 */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fleetOf } from './fleet.mjs'
import { startService } from './service.mjs'
import { stores } from './stores.mjs'

/** Minutes between the rounds after a fault, together two hours. */
const tail = [...Array(10).fill(4), ...Array(8).fill(10)]

/**
 * @param moment - `in use`, or `after a night`, in which nobody asks until the access token has ended
 * @param world - `{ seed, folder, certificate, turns, closing }`: turns are for what keeps the machine busy, `closing` has what ends with us
 * @returns what was counted, and the verdict
 */
export async function playCell({ candidate, name, fault, moment }, world) {
  const random = randomOf(`${world.seed} ${name}`)
  const folder = mkdtempSync(join(world.folder, 'cell-'))
  const traps = join(folder, 'traps')
  mkdirSync(traps)
  const jumps = []
  const now = () => jumps.reduce((sum, [, by]) => sum + by, Date.now())
  const service = await startService({ now, random, certificate: world.certificate })
  const store = await stores[candidate.store](folder)
  const { tokenPorts, tokenUrl, apiUrl, issuer } = service
  const { module } = candidate
  const fleet = fleetOf({
    size: candidate.processes,
    random,
    env: { NODE_EXTRA_CA_CERTS: world.certificate.file },
    detailsOf: (index) => ({
      opened: { module, context: { settings: store.settings, service: { tokenUrl, issuer } } },
      clock: { jumps, skew: fault.isSkewed ? skewOf(index, candidate.processes) : 0 },
      places: { traps, tokenPorts, apiUrl },
    }),
  })
  let isAsleep = moment === 'after a night'
  /** `works`: every caller of the newest round had a token. `isOver`: all have noticed that the family is revoked; it does not come back. */
  const state = { works: true, isOver: false }

  async function round() {
    const results = (await fleet.round()).flat()
    if (results.length === 0) return
    state.works = results.every(({ failure }) => failure === undefined)
    state.isOver ||= service.counters.revoked > 0 && results.every(({ failure }) => failure !== undefined)
  }

  async function pass(minutes) {
    await calm()
    const made = [Date.now(), minutes * 60_000]
    jumps.push(made)
    await fleet.jump(made)
  }

  /** Nothing is half-way: no clock jumps in the middle of a refresh. */
  async function calm() {
    await fleet.answered()
    while (!fleet.isComplete()) await sleep(20)
    await Promise.race([fleet.settled(), sleep(5000, undefined, { ref: false })])
    while (!service.isIdle()) await sleep(20)
  }

  /** Time passes until something happens, which a refresh must bring about. */
  async function passUntil(happens) {
    const seen = { event: undefined }
    const event = happens.then((value) => (seen.event = value))
    for (let step = 0; step < 30 && seen.event === undefined; step += 1) {
      await Promise.race([event, pass(isAsleep ? 80 : 4)])
      isAsleep = false
      if (seen.event === undefined) await Promise.race([event, round()])
    }
    if (seen.event === undefined) throw new Error('It never refreshes')
    return seen.event
  }

  const cell = {
    service,
    store,
    pass,
    round,
    pids: () => fleet.pids(),
    arm: (trap) => writeFileSync(join(traps, trap), ''),
    untilDeath: () => passUntil(once(fleet.deaths, 'death')),
    /** The next request to refresh, `{ pid, answer }`: nothing is done with it until `answer({ … })`. */
    nextRefresh() {
      const came = new Promise((resolve) => {
        service.behave(({ port }) => {
          service.behave()
          return new Promise((answer) => resolve({ pid: pidOf(traps, port), answer }))
        })
      })
      return passUntil(came)
    },
    /** Real time, in which all ask every two seconds, or twenty times. What lasts lets others have their turn. */
    async real(seconds) {
      const end = performance.now() + seconds * 1000
      if (seconds > 5) world.turns.giveBack()
      for (let left = seconds; left > 0 && !state.isOver; left = (end - performance.now()) / 1000) {
        void round()
        await sleep(Math.min(Math.max(2000, seconds * 50), left * 1000))
      }
      await sleep(Math.max(0, end - performance.now()))
      if (seconds > 5) await world.turns.take()
    },
  }
  const end = () => {
    fleet.end()
    service.close()
    return store.close()
  }
  world.closing.add(end)
  try {
    await fleet.start()
    await fleet.signIn(candidate.signsInByCode ? 'a code' : service.signIn())
    await round()
    await fault.play(cell)
    service.behave()
    await calm()
    for (const minutes of tail) {
      if (state.isOver) fleet.giveUp()
      else await pass(minutes).then(round)
    }
    return { verdict: verdictOf(state.works, service.counters, fleet.totals), ...service.counters, ...fleet.totals }
  } finally {
    world.closing.delete(end)
    await end()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** In the order from good to bad. */
export const verdicts = ['kept', 'calls failed', 'stuck', 'signed out']

function verdictOf(works, { revoked }, { failed }) {
  if (works) return failed === 0 ? 'kept' : 'calls failed'
  return revoked > 0 ? 'signed out' : 'stuck'
}

const skewOf = (index, processes) => (processes === 1 ? -30 : (index / (processes - 1)) * 60 - 30) * 60_000

/** Whose connection it is. */
function pidOf(traps, port) {
  const names = readdirSync(traps).map((name) => name.split('-'))
  return Number(names.find(([each]) => each === String(port))?.[1])
}

/** 0 to 1, time and again, and the same for the same text. */
function randomOf(text) {
  let drawn = 0
  return () => Number.parseInt(hash('sha256', `${text} ${(drawn += 1)}`).slice(0, 8), 16) / 2 ** 32
}
