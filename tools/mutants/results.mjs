/**
 * Verdicts kept in a file, one line each, so that a run can be taken up again, and several runs at once can share one sample.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** What stays true while tests are only added. A mutant of another outcome is tried again. */
const final = new Set(['killed', 'refused'])

/** @param {string} path */
export function openResults(path) {
  mkdirSync(dirname(path), { recursive: true })
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
  /** @type {Map<string, import('./trial.mjs').Verdict>} */
  const kept = new Map()
  for (const line of lines) {
    const { mutant, outcome, why } = JSON.parse(line)
    kept.set(mutant, { outcome, why })
  }
  return {
    /**
     * The verdict of an earlier run, where it still stands.
     *
     * @param {import('./trial.mjs').Mutant} mutant
     */
    find(mutant) {
      const verdict = kept.get(keyOf(mutant))
      return verdict && final.has(verdict.outcome) ? verdict : undefined
    },

    /**
     * Whether an earlier run tried it, and another try may end otherwise.
     *
     * @param {import('./trial.mjs').Mutant} mutant
     */
    isOpen(mutant) {
      const verdict = kept.get(keyOf(mutant))
      return verdict !== undefined && !final.has(verdict.outcome)
    },

    /**
     * @param {import('./trial.mjs').Mutant} mutant
     * @param {import('./trial.mjs').Verdict} verdict
     */
    keep(mutant, { outcome, why }) {
      appendFileSync(path, `${JSON.stringify({ mutant: keyOf(mutant), outcome, why })}\n`)
    },
  }
}

/** Lines move, so a mutant is known by what its line says. */
function keyOf({ file, code, change, nth }) {
  return [file, code, change, nth].join('\n')
}
