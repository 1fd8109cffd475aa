/**
 * Secrets out of files and standard input; never out of the arguments.
 */
import { readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { textFromUtf8 } from '@owner-sso/core'
import { CommandError, systemError, usageError } from '../failure/command-error.ts'
import { expandHome } from '../machine/folders.ts'
import { checkedSecret, orTell } from './secret-text.ts'
import { printNote } from '../terminal/output.ts'

/**
 * The secret in a file.
 *
 * @param option - what named the file, for the error
 * @throws CommandError where it can't be read, is empty, has several lines, or is not UTF-8
 */
export async function secretFromFile(path: string, option: string): Promise<string> {
  const text = await textOf(path, option, {
    // Whoever gives the secret in place of the path does not find it in a log.
    problem: `The file of ${option} can’t be read`,
    next: `Correct ${option}: it takes a path, not the secret itself.`,
  })
  if (text.trimEnd() === '') throw usageError(`${nameOf(path)} is empty.`, `Put the secret there, or omit ${option}.`)
  return checkedSecret(text, nameOf(path))
}

/** The whole text in a file, of as many lines as it has. @throws CommandError where it can't be read, or is not UTF-8 */
export function textFromFile(path: string, option: string): Promise<string> {
  return textOf(path, option, { problem: `${path} can’t be read`, next: `Correct ${option}.` })
}

async function textOf(path: string, option: string, unreadable: Unreadable): Promise<string> {
  const content = path === '-' ? await buffer(process.stdin) : await contentOf(expandHome(path), option, unreadable)
  return orTell(`Write it anew, or correct ${option}.`, () => textFromUtf8(content, nameOf(path)))
}

/** What is said where there is no such file, or none that may be read. */
interface Unreadable {
  readonly problem: string
  readonly next: string
}

export const nameOf = (path: string): string => (path === '-' ? 'Standard input' : path)

async function contentOf(path: string, option: string, { problem, next }: Unreadable): Promise<Buffer> {
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) throw usageError(`${path} is a folder.`, `Name a file in it: correct ${option}.`)
    const content = await readFile(path)
    // Of a file of somebody else's, or of a pipe, only they can change the mode.
    const isOwn = stats.isFile() && stats.uid === process.getuid?.()
    if (isOwn && (stats.mode & 0o077) !== 0) printNote(`Other users may read ${path}: run chmod 600 ${path}`)
    return content
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw systemError(problem, error, next)
  }
}
