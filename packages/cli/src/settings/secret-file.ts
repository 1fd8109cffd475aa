/**
 * Secrets out of files and standard input; never out of the arguments.
 */
import { readFile, stat } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { CommandError, systemError, usageError } from '../command-line/command-error.ts'
import { expandHome } from './folders.ts'
import { printNote } from '../terminal/output.ts'

/**
 * The secret in a file, without the line break at its end.
 *
 * @param option - what named the file, for the error
 * @throws CommandError where it can't be read or is empty
 */
export async function secretFromFile(path: string, option: string): Promise<string> {
  const content = path === '-' ? await text(process.stdin) : await contentOf(expandHome(path), option)
  const secret = content.replace(/\r?\n$/u, '')
  if (secret !== '') return secret
  throw usageError(`${path === '-' ? 'Standard input' : path} is empty.`, `Put the secret there, or omit ${option}.`)
}

async function contentOf(path: string, option: string): Promise<string> {
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) throw usageError(`${path} is a folder.`, `Name a file in it: correct ${option}.`)
    const content = await readFile(path, 'utf8')
    // Of a file of somebody else's, or of a pipe, only they can change the mode.
    const isOwn = stats.isFile() && stats.uid === process.getuid?.()
    if (isOwn && (stats.mode & 0o077) !== 0) printNote(`Other users may read ${path}: run chmod 600 ${path}`)
    return content
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw systemError(`${path} can’t be read`, error, `Correct ${option}.`)
  }
}
