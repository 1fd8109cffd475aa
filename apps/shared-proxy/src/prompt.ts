/**
 * Questions to a person in a terminal, or to a program that pipes the answers in, one a line.
 */
import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'

export interface Prompt {
  /** @throws Error where no answer comes */
  readonly ask: (question: string) => Promise<string>
  /** Shows nothing of the answer. */
  readonly askSecretly: (question: string) => Promise<string>
  readonly close: () => void
}

/**
 * Asks on standard error, so that standard output stays for results.
 *
 * @param input - where the answers come from
 * @param screen - where the questions go
 */
export function openPrompt(
  input: Readable & { isTTY?: boolean } = process.stdin,
  screen: Writable = process.stderr,
): Prompt {
  let isSecret = false
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!isSecret) screen.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input, output, terminal: input.isTTY === true })
  // Lines that were piped in all at once wait there until they are asked for, longer than the input itself may last.
  const entries = lines[Symbol.asyncIterator]()
  let hasEnded = false
  lines.once('close', () => {
    hasEnded = true
  })

  const answerTo = async (question: string, secretly: boolean): Promise<string> => {
    if (hasEnded) screen.write(question)
    else {
      lines.setPrompt(question)
      lines.prompt()
    }
    isSecret = secretly
    const { value, done } = await entries.next()
    isSecret = false
    if (secretly) screen.write('\n')
    if (done === true) throw new Error('The input ended before all questions were answered.')
    return value
  }
  return {
    ask: (question) => answerTo(question, false),
    askSecretly: (question) => answerTo(question, true),
    close: () => lines.close(),
  }
}
