/**
 * The sampler: goes through a world by chance, from its beginning to its end, again and again. Where a world is too large for
 * the explorer, whose bound leaves it in one corner, this one comes round everywhere a little.
 */
import { type Behaviour, createBehaviour } from './behaviour.ts'
import { courseOf } from './course.ts'
import { type Exploration, wordsFor } from './explorer.ts'
import { chance } from './chance.ts'
import { enabled } from './possibilities.ts'
import type { Scenario } from './scenario.ts'
import { stateOf } from './world.ts'

/** A world that has gone on for so long goes on as time passes. */
const longestWalk = 150

/**
 * @param walks - how many
 * @param seed - decides all of them
 * @param behaviour - of processes of this nature, as far as other worlds have found it out
 */
export async function sample(
  scenario: Scenario,
  walks: number,
  seed = 1,
  behaviour: Behaviour = createBehaviour(scenario),
): Promise<Exploration> {
  const random = chance(seed)
  const course = courseOf(scenario, behaviour)
  const visited = new Set<string>()
  for (let walk = 0; walk < walks; walk += 1) {
    const words: string[] = []
    let world = course.first
    let verdict: string | undefined
    for (let steps = 0; steps < longestWalk && verdict === undefined; steps += 1) {
      const actions = enabled(world)
      const action = actions[Math.floor(random() * actions.length)]
      if (action === undefined) break
      words.push(wordsFor(action))
      const next = course.perform(world, action)
      world = next instanceof Promise ? await next : next
      visited.add(stateOf(world))
      verdict = world.evidence.verdicts[0]
    }
    verdict ??= await course.complete(world)
    if (verdict !== undefined) return { states: visited.size, complete: false, violation: { verdict, actions: words } }
  }
  return { states: visited.size, complete: false, violation: undefined }
}
