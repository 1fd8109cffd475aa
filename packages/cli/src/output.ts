/**
 * Where a command's words go: data to standard output, everything else to standard error.
 */
import { styleText } from 'node:util'
import { CommandError, exitCodes } from './command-error.ts'

type Format = Parameters<typeof styleText>[0]

/** Whoever reads our output may stop reading (`| head -0`): that is no failure of ours, and ends nothing half-way. */
export function tolerateClosedPipes(): void {
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
}

/**
 * Prints a command's data. Resolves when it is handed over.
 *
 * @throws CommandError where it can't be written (a full disk); never for a reader who has gone
 */
export function printData(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => {
      if (!error || isClosedPipe(error)) resolve()
      else reject(new CommandError(exitCodes.unexpected, 'The output could not be written.', 'Look at where it goes.'))
    })
  })
}

/** Data as indented JSON. */
export function printJson(value: unknown): Promise<void> {
  return printData(JSON.stringify(value, undefined, 2))
}

/** Tells the person something that is no data. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Colours text for one of the two streams, where it is a terminal and NO_COLOR is not set. */
export function paint(format: Format, text: string, stream: NodeJS.WriteStream = process.stderr): string {
  const colours = stream.isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb'
  return colours ? styleText(format, text) : text
}

function isClosedPipe(error: Error): boolean {
  return 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
}
