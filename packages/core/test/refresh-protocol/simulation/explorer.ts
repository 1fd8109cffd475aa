/**
 * The explorer: performs the actions of a world in every order, to a bound on the states, and reports the first order that
 * the judge condemns.
 *
 * Real code can't be set back, so each order is played from the start. A state that was met before is not gone into again:
 * what a process knows is decided by what it was told, so equal histories are equal states.
 */
import { hash } from 'node:crypto'
import type { Scenario } from './scenario.ts'
import { createWorld } from './world.ts'
import type { Action, World } from './world.ts'

export interface Exploration {
  readonly states: number
  readonly schedules: number
  /** Whether every order was tried, rather than the bound reached. */
  readonly complete: boolean
  readonly violation: { readonly verdict: string; readonly actions: readonly Action[] } | undefined
}

/**
 * @param bound - the most states to visit
 * @param seed - decides in which order the actions are tried, which matters where the bound is reached
 */
export async function explore(scenario: Scenario, bound: number, seed = 1): Promise<Exploration> {
  const order = shuffler(seed)
  const visited = new Set<string>()
  const choices: { actions: Action[]; chosen: number }[] = []
  let schedules = 0

  for (;;) {
    const world = createWorld(scenario)
    for (const { actions, chosen } of choices) await world.perform(actions[chosen] ?? '')
    const taken = (): Action[] => choices.map(({ actions, chosen }) => actions[chosen] ?? '')
    const verdict = await playOn(world, choices, visited, order)
    schedules += 1
    if (verdict !== undefined) {
      return { states: visited.size, schedules, complete: false, violation: { verdict, actions: taken() } }
    }
    if (!nextChoice(choices)) return { states: visited.size, schedules, complete: true, violation: undefined }
    if (visited.size >= bound) return { states: visited.size, schedules, complete: false, violation: undefined }
  }
}

/** Plays the first choice on to the end, or to a state that was met before. */
async function playOn(
  world: World,
  choices: { actions: Action[]; chosen: number }[],
  visited: Set<string>,
  order: (actions: Action[]) => Action[],
): Promise<string | undefined> {
  for (;;) {
    if (world.judge.verdicts.length > 0) return world.judge.verdicts[0]
    const state = hash('sha1', world.state(), 'base64')
    if (choices.length > 0 && visited.has(state)) return undefined
    visited.add(state)
    const actions = order(world.enabled())
    const [first] = actions
    if (first === undefined) {
      await world.complete()
      return world.judge.verdicts[0]
    }
    choices.push({ actions, chosen: 0 })
    await world.perform(first)
  }
}

/** Puts actions into an order that only the seed decides (xorshift). */
function shuffler(seed: number): (actions: Action[]) => Action[] {
  let state = seed * 2_654_435_761
  const random = (): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  return (actions) => {
    for (let last = actions.length - 1; last > 0; last -= 1) {
      const other = Math.floor(random() * (last + 1))
      const moved = actions[last] ?? ''
      actions[last] = actions[other] ?? ''
      actions[other] = moved
    }
    return actions
  }
}

function nextChoice(choices: { actions: Action[]; chosen: number }[]): boolean {
  for (let last = choices.at(-1); last !== undefined; last = choices.at(-1)) {
    last.chosen += 1
    if (last.chosen < last.actions.length) return true
    choices.pop()
  }
  return false
}
