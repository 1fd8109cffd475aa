/**
 * Where a command's words go: data to standard output, everything else to standard error.
 */
import { writeSync } from 'node:fs'
import { styleText } from 'node:util'
import { CommandError, exitCodes } from './command-error.ts'

type Format = Parameters<typeof styleText>[0]

/**
 * Prints a command's data. Resolves when it is handed over.
 *
 * Whoever reads it may have stopped reading (`| head -0`): that is no failure of ours, and ends nothing half-way.
 *
 * @throws CommandError where it can't be written (a full disk)
 */
export async function printData(text: string): Promise<void> {
  const rest = writeAtOnce(Buffer.from(`${text}\n`))
  if (rest.byteLength > 0) await writeToStream(rest)
}

/** Straight to the descriptor, since opening the stream takes a short command's time. @returns what did not fit */
function writeAtOnce(data: Buffer): Buffer {
  let written = 0
  try {
    while (written < data.byteLength) written += writeSync(1, data, written)
  } catch (error) {
    return endOf(error) === 'full pipe' ? data.subarray(written) : data.subarray(0, 0)
  }
  return data.subarray(written)
}

function writeToStream(data: Buffer): Promise<void> {
  process.stdout.on('error', () => undefined)
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => {
      try {
        if (error) endOf(error)
        resolve()
      } catch (failure) {
        reject(failure)
      }
    })
  })
}

/** What a failed write means. @throws CommandError where it is a failure */
function endOf(error: unknown): 'full pipe' | 'closed pipe' {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EAGAIN') return 'full pipe'
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return 'closed pipe'
  throw new CommandError(exitCodes.unexpected, 'The output could not be written.', 'Look at where it is sent to.')
}

/** Data as indented JSON. */
export function printJson(value: unknown): Promise<void> {
  return printData(JSON.stringify(value, undefined, 2))
}

/** Tells the person something that is no data. */
export function printNote(text: string): void {
  // A closed standard error is no failure either.
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined)
  process.stderr.write(`${text}\n`)
}

/** Colours text for one of the two streams, where it is a terminal and NO_COLOR is not set. */
export function paint(format: Format, text: string, stream: NodeJS.WriteStream = process.stderr): string {
  const colours = stream.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb'
  return colours ? styleText(format, text) : text
}
