/**
 * What is printed: every check by its section, the required part and the optional one apart.
 */
import type { Check } from './finding.ts'

export interface Finding {
  readonly check: Check
  readonly state: 'ok' | 'lacks' | 'not checked'
  readonly reason?: string
}

export function reportOf(findings: readonly Finding[]): string {
  const [required, optional] = [true, false].map((isRequired) =>
    findings.filter(({ check }) => check.isRequired === isRequired),
  )
  return [
    'Required',
    ...linesOf(required ?? []),
    '\nOptional',
    ...linesOf(optional ?? []),
    `\nRequired: ${sumOf(required ?? [])}. Optional: ${sumOf(optional ?? [])}.\n`,
  ].join('\n')
}

function linesOf(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ check: { section, name }, state, reason }, index) => {
    const isFirst = findings[index - 1]?.check.section !== section
    const line = `    ${state.padEnd(12)} ${name}${reason === undefined ? '' : `: ${reason}`}`
    return isFirst ? [`  ${section}`, line] : [line]
  })
}

function sumOf(findings: readonly Finding[]): string {
  const count = (state: Finding['state']): number => findings.filter((finding) => finding.state === state).length
  const unseen = count('not checked')
  return `${count('ok')} of ${findings.length} pass${unseen === 0 ? '' : `, ${unseen} not checked`}`
}
