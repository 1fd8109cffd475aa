/**
 * The explorer: performs the actions of a world in every order, to a bound on the states, and reports the first order that
 * the judge condemns. A state that was met before is not gone into again.
 */
import { type Behaviour, createBehaviour } from './behaviour.ts'
import { chance } from './chance.ts'
import { courseOf } from './course.ts'
import { type Action, enabled } from './possibilities.ts'
import type { Scenario } from './scenario.ts'
import { stateOf, type World } from './world.ts'

export interface Exploration {
  readonly states: number
  /** Whether every order was tried, rather than the bound reached. */
  readonly complete: boolean
  readonly violation: { readonly verdict: string; readonly actions: readonly string[] } | undefined
}

/** A world, and what was tried of that which can happen in it. */
interface Crossing {
  readonly world: World
  readonly actions: readonly Action[]
  chosen: number
}

/**
 * @param bound - the most states to visit
 * @param seed - decides in which order the actions are tried, which matters where the bound is reached
 * @param behaviour - of processes of this nature, as far as other worlds have found it out
 */
export async function explore(
  scenario: Scenario,
  bound: number,
  seed = 1,
  behaviour: Behaviour = createBehaviour(scenario),
): Promise<Exploration> {
  const order = shuffler(seed)
  const course = courseOf(scenario, behaviour)
  const visited = new Set<string>()
  const way: Crossing[] = []

  /** Returns the judge's verdict on a world, and sees to it that it is gone on from where it is new. */
  function enter(world: World): string | undefined | Promise<string | undefined> {
    const [verdict] = world.evidence.verdicts
    if (verdict !== undefined) return verdict
    const state = stateOf(world)
    if (visited.has(state)) return undefined
    visited.add(state)
    const actions = order(enabled(world))
    if (actions.length === 0) return course.complete(world)
    way.push({ world, actions, chosen: 0 })
    return undefined
  }

  let verdict = await enter(course.first)
  while (verdict === undefined) {
    const here = way.at(-1)
    if (here === undefined || visited.size >= bound) {
      return { states: visited.size, complete: here === undefined, violation: undefined }
    }
    const action = here.actions[here.chosen]
    here.chosen += 1
    if (action === undefined) {
      way.pop()
      continue
    }
    // Mostly nothing has to be waited for, and waiting would take longer than all the rest.
    const next = course.perform(here.world, action)
    const entered = enter(next instanceof Promise ? await next : next)
    verdict = entered instanceof Promise ? await entered : entered
  }
  const actions = way.map((crossing) => wordsFor(crossing.actions[crossing.chosen - 1]))
  return { states: visited.size, complete: false, violation: { verdict, actions } }
}

export function wordsFor(action: Action | undefined): string {
  if (action?.kind === 'step') return `${action.step.name} ${action.how}`.trim()
  if (action?.kind === 'jump') return `p${action.process} ${action.kind} ${action.by}`
  return action !== undefined && 'process' in action ? `p${action.process} ${action.kind}` : String(action?.kind)
}

/** Puts actions into an order that only the seed decides. */
function shuffler(seed: number): (actions: Action[]) => Action[] {
  const random = chance(seed)
  return (actions) => {
    for (let last = actions.length - 1; last > 0; last -= 1) {
      const other = Math.floor(random() * (last + 1))
      const [moved, taken] = [actions[last], actions[other]]
      if (moved !== undefined && taken !== undefined) [actions[last], actions[other]] = [taken, moved]
    }
    return actions
  }
}
