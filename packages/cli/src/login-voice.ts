/**
 * How a login speaks: step by step in a terminal, else only in its last sentence.
 */
import { printNote } from './output.ts'
import { visible } from './visible-text.ts'

export interface LoginVoice {
  readonly begin: (title: string) => void
  /** What is happening now. */
  readonly step: (text: string) => void
  /** What went wrong, where the person can put it right at once. */
  readonly problem: (text: string) => void
  /** What the person has to read. */
  readonly tell: (...lines: readonly string[]) => void
  readonly end: (text: string) => void
}

export async function loginVoice(): Promise<LoginVoice> {
  if (!process.stderr.isTTY) return { begin: quiet, step: quiet, problem: printNote, tell: printNote, end: printNote }
  const { intro, log, outro } = await import('@clack/prompts')
  const output = process.stderr
  return {
    begin: (title) => intro(visible(title), { output }),
    step: (text) => log.step(visible(text), { output, spacing: 0 }),
    problem: (text) => log.warn(visible(text), { output }),
    tell: (...lines) => log.message(lines.map(visible), { output }),
    end: (text) => outro(visible(text), { output }),
  }
}

function quiet(): void {
  // Nobody watches.
}
