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
  return checkedSecret(await textFromFile(path, option), nameOf(path))
}

/** The whole text in a file, of as many lines as it has. @throws CommandError where it can't be read, is empty, or is not UTF-8 */
export async function textFromFile(path: string, option: string): Promise<string> {
  const content = path === '-' ? await buffer(process.stdin) : await contentOf(expandHome(path), option)
  const text = orTell(`Write it anew, or correct ${option}.`, () => textFromUtf8(content, nameOf(path)))
  if (text.trimEnd() !== '') return text
  throw usageError(`${nameOf(path)} is empty.`, `Put the secret there, or omit ${option}.`)
}

const nameOf = (path: string): string => (path === '-' ? 'Standard input' : path)

async function contentOf(path: string, option: string): Promise<Buffer> {
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
    throw systemError(`${path} can’t be read`, error, `Correct ${option}.`)
  }
}
