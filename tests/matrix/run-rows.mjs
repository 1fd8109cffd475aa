/** Runs rows one after the other, since a machine has two cores, and prints each as it ends. */
import { bundled } from './rows/bundlers.mjs'
import { otherClients } from './rows/clients.mjs'
import { frameworks } from './rows/frameworks.mjs'
import { nodes } from './rows/nodes.mjs'
import { packageManagers } from './rows/package-managers.mjs'
import { otherRuntimes } from './rows/runtimes.mjs'
import { testRunners } from './rows/test-runners.mjs'
import { typescript } from './rows/typescript.mjs'

/** All of them. A group prepares once what those of its rows share that are wanted, by their names. */
export const groups = [
  nodes,
  testRunners,
  frameworks,
  otherClients,
  bundled,
  typescript,
  packageManagers,
  otherRuntimes,
]

/** Runs the rows whose `group: row` is wanted. */
export async function runRows(workshop, isWanted) {
  const results = []
  for (const group of groups) {
    const { title } = group
    const wanted = group.rows.filter(({ name }) => isWanted(`${title}: ${name}`))
    if (wanted.length === 0) continue
    const state = await group.prepare(
      workshop,
      wanted.map(({ name }) => name),
    )
    for (const row of wanted) {
      const { name, covers = {} } = row
      const started = performance.now()
      const result = await row.run(state, workshop).then(
        () => ({ outcome: 'ok' }),
        (error) => ({ outcome: 'failed', error: error.message }),
      )
      results.push({ group: title, row: name, covers, ...result })
      console.log(
        `${result.outcome === 'ok' ? '✓' : '✗'} ${title}: ${name} (${((performance.now() - started) / 1000).toFixed(0)} s)`,
      )
      if (result.error) console.log(result.error.replaceAll(/^/gmu, '    '))
    }
  }
  return results
}
