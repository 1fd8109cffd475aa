/**
 * Tells how a call failed.
 */
import { CommandError } from '../failure/command-error.ts'
import { failureOf } from '../terminal/failure.ts'
import { interruptedExitCode } from '../failure/interruption.ts'
import { asksForJson, printFact, printNote } from '../terminal/output.ts'

/** @returns the exit code */
export function report(error: unknown): number {
  const interrupted = interruptedExitCode()
  if (interrupted !== undefined) {
    printNote(error instanceof CommandError ? `${error.message} ${error.next}` : 'Stopped.')
    return interrupted
  }
  const { exitCode, code, message, next } = failureOf(error)
  if (asksForJson()) printFact({ error: { code, message, next, exitCode } })
  else {
    const [first = '', ...others] = [...lines(message), ...lines(next)]
    printNote([{ format: 'red', text: name }, ` ${first}`], ...others.map((line) => `${indent}${line}`))
  }
  return exitCode
}

const name = 'owner-sso:'
const indent = ' '.repeat(name.length + 1)

/** Broken between words, where a terminal would break within them. */
function lines(text: string): string[] {
  if (!process.stderr.isTTY) return [text]
  const width = Math.max(40, process.stderr.columns - indent.length)
  const broken: string[] = []
  for (const word of text.split(' ')) {
    const line = broken.at(-1)
    if (line !== undefined && line.length + word.length < width) broken[broken.length - 1] = `${line} ${word}`
    else broken.push(word)
  }
  return broken
}
