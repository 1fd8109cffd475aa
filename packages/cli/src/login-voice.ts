/**
 * How a login speaks: step by step in a terminal, else only in its last sentence.
 */
import { printNote } from './output.ts'

export interface LoginVoice {
  readonly begin: (title: string) => void
  /** What is happening now. */
  readonly step: (text: string) => void
  /** What went wrong, where the person can put it right at once. */
  readonly problem: (text: string) => void
  /** What the person has to read. */
  readonly tell: (text: string) => void
  readonly end: (text: string) => void
}

export async function loginVoice(): Promise<LoginVoice> {
  if (!process.stderr.isTTY) return { begin: quiet, step: quiet, problem: printNote, tell: printNote, end: printNote }
  const { intro, log, outro } = await import('@clack/prompts')
  const output = process.stderr
  return {
    begin: (title) => intro(title, { output }),
    step: (text) => log.step(text, { output, spacing: 0 }),
    problem: (text) => log.warn(text, { output }),
    tell: (text) => log.message(text, { output }),
    end: (text) => outro(text, { output }),
  }
}

function quiet(): void {
  // Nobody watches.
}
