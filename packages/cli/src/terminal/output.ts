/**
 * Where a command's words go: data to standard output, everything else to standard error. Both take lines, and of each only
 * what is visible: whatever a name holds, it stays one line, and colours are ours alone.
 */
import { writeSync } from 'node:fs'
import { styleText } from 'node:util'
import { systemCode, visible } from '@owner-sso/core'
import { CommandError, exitCodes } from '../failure/command-error.ts'

interface Painted {
  readonly format: Parameters<typeof styleText>[0]
  readonly text: string
}

/** One line of output, whole or in pieces. A line break in it is shown as `\u000a`. */
export type Line = string | readonly (string | Painted)[]

/**
 * Prints a command's data. Resolves when it is handed over.
 *
 * Whoever reads it may have stopped reading (`| head -0`): that is no failure of ours, and ends nothing half-way.
 *
 * @throws CommandError where it can't be written (a full disk)
 */
export async function printData(...lines: readonly Line[]): Promise<void> {
  const rest = writeAtOnce(Buffer.from(textOf(lines, 'stdout')))
  if (rest.byteLength > 0) await writeToStream(rest)
}

/** Straight to the descriptor, since opening the stream takes a short command's time. @returns what did not fit */
function writeAtOnce(data: Buffer): Buffer {
  let written = 0
  try {
    while (written < data.byteLength) written += writeSync(1, data, written)
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return data.subarray(written)
    requireClosed(error)
  }
  return Buffer.alloc(0)
}

async function writeToStream(data: Buffer): Promise<void> {
  process.stdout.on('error', () => undefined)
  const error = await new Promise<Error | null | undefined>((resolve) => process.stdout.write(data, resolve))
  if (error) requireClosed(error)
}

/** @throws CommandError for a failed write that is more than nobody reading on */
function requireClosed(error: unknown): void {
  if (['EPIPE', 'ERR_STREAM_DESTROYED'].includes(systemCode(error) ?? '')) return
  throw new CommandError(exitCodes.unexpected, 'The output could not be written.', 'Check where it is sent.')
}

export function printJson(value: unknown): Promise<void> {
  return printData(...JSON.stringify(value, undefined, 2).split('\n'))
}

/** Tells the person something that is no data; with `--json`, each line as `{"note": …}`. */
export function printNote(...lines: readonly Line[]): void {
  if (!asksForJson()) return writeNote(lines)
  const notes = lines.map((line) => plain(line).trim()).filter((note) => note !== '')
  for (const note of notes) printFact({ note })
}

/** Tells a program something that is no data: one line of JSON. */
export function printFact(fact: object): void {
  writeNote([JSON.stringify(fact)])
}

/** Whether `--json` was given. Failures ask as well, before there are settings. Behind `--` it is another program's. */
export function asksForJson(): boolean {
  const [at, end] = [process.argv.indexOf('--json'), process.argv.indexOf('--')]
  return at >= 0 && (end < 0 || at < end)
}

function writeNote(lines: readonly Line[]): void {
  // A closed standard error is no failure either.
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined)
  process.stderr.write(textOf(lines, 'stderr'))
}

function plain(line: Line): string {
  return typeof line === 'string'
    ? line
    : line.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('')
}

/** Each line as it is written to the stream: what is visible of it, in its colours. */
function textOf(lines: readonly Line[], stream: 'stdout' | 'stderr'): string {
  const shown = (piece: string | Painted): string => {
    if (typeof piece === 'string') return visible(piece)
    const text = visible(piece.text)
    return hasColours(stream) ? styleText(piece.format, text, { stream: process[stream] }) : text
  }
  return lines.map((line) => `${typeof line === 'string' ? visible(line) : line.map(shown).join('')}\n`).join('')
}

function hasColours(stream: 'stdout' | 'stderr'): boolean {
  return process[stream].isTTY && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb'
}
