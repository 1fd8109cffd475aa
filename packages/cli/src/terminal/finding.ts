/**
 * One thing that the doctor looked at.
 */
import { type ExitCode, exitCodes } from '../failure/command-error.ts'
import type { Line } from './output.ts'

export interface Finding {
  readonly about: string
  readonly level: 'good' | 'note' | 'problem'
  readonly text: string
  readonly fix?: string
  readonly exitCode?: ExitCode
}

export const good = (about: string, text: string): Finding => ({ about, level: 'good', text })

export const note = (about: string, text: string, fix: string): Finding => ({ about, level: 'note', text, fix })

export const problem = (about: string, text: string, fix: string, exitCode: ExitCode = exitCodes.usage): Finding => ({
  about,
  level: 'problem',
  text,
  fix,
  exitCode,
})

const marks = { good: ['✔', 'green'], note: ['•', 'yellow'], problem: ['✖', 'red'] } as const

export function findingLines({ about, level, text, fix }: Finding): Line[] {
  const [mark, format] = marks[level]
  const first: Line = [{ format, text: mark }, ` ${about.padEnd(15)} ${text}`]
  return fix === undefined ? [first] : [first, `${' '.repeat(18)}→ ${fix}`]
}
