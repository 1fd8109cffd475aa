/**
 * Secrets out of the environment, files and standard input; never out of the arguments.
 */
import { readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { secretFromText, textFromUtf8, unquoted } from '@owner-sso/core'
import { CommandError, systemError, usageError } from '../failure/command-error.ts'
import { expandHome } from '../machine/folders.ts'
import { printNote } from '../terminal/output.ts'

/** What `read` finds; its TypeError as a sentence, and what to do about it. @throws CommandError */
export function orTell<Value>(next: string | ((wrong: TypeError) => string), read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw usageError(`${error.message}.`, typeof next === 'string' ? next : next(error))
  }
}

/** The secret, as core has it. What is seldom meant, but can be, is told. @throws CommandError */
export function checkedSecret(text: string, where: string): string {
  const secret = orTell('Write it anew.', () => secretFromText(text, where))
  if (secret !== secret.trim()) printNote(`${where} begins or ends with a space, which counts.`)
  if (unquoted(secret) !== secret) printNote(`${where} has quotation marks around it, which count.`)
  return secret
}

/** The value of an environment variable; undefined where it is empty or not set. @throws CommandError for what can be no secret */
export function secretFromVariable(name: string): string | undefined {
  return checkedSecret(process.env[name] ?? '', name) || undefined
}

/**
 * The secret in a file.
 *
 * @param option - what named the file, for the error. Whoever gives the secret in place of the path does not find it in a log
 * @throws CommandError where it can't be read, is empty, has several lines, or is not UTF-8
 */
export async function secretFromFile(path: string, option: string): Promise<string> {
  const next = `Correct ${option}: it takes a path, not the secret itself.`
  const text = await textFromFile(path, option, `The file of ${option}`, next)
  if (text.trimEnd() === '') throw usageError(`${nameOf(path)} is empty.`, `Put the secret there, or omit ${option}.`)
  return checkedSecret(text, nameOf(path))
}

/**
 * The whole text in a file, of as many lines as it has.
 *
 * @param named - how the error names it
 * @throws CommandError where it can't be read, or is not UTF-8
 */
export async function textFromFile(
  path: string,
  option: string,
  named: string = path,
  next: string = `Correct ${option}.`,
): Promise<string> {
  try {
    const content = path === '-' ? await buffer(process.stdin) : await contentOf(expandHome(path), option)
    return orTell(`Write it anew, or correct ${option}.`, () => textFromUtf8(content, nameOf(path)))
  } catch (error) {
    throw error instanceof CommandError ? error : systemError(`${named} can’t be read`, error, next)
  }
}

export const nameOf = (path: string): string => (path === '-' ? 'Standard input' : path)

async function contentOf(path: string, option: string): Promise<Buffer> {
  const stats = await stat(path)
  if (stats.isDirectory()) throw usageError(`${path} is a folder.`, `Name a file in it: correct ${option}.`)
  const content = await readFile(path)
  // Of a file of somebody else's, or of a pipe, only they can change the mode.
  const isOwn = stats.isFile() && stats.uid === process.getuid?.()
  if (isOwn && (stats.mode & 0o077) !== 0) printNote(`Other users may read ${path}: run chmod 600 ${path}`)
  return content
}

/**
 * What records are sealed with, out of `OWNER_SSO_ENCRYPTION_KEY`: keys of 32 bytes in base64, separated by commas or spaces. The first
 * seals, all open, while a key is being changed.
 *
 * @returns undefined where none is set
 * @throws CommandError for anything else; its message quotes nothing
 */
export function encryptionKeys(): readonly Uint8Array[] | undefined {
  const text = process.env['OWNER_SSO_ENCRYPTION_KEY']?.trim()
  if (!text) return undefined
  const words = text.split(/[\s,]+/u).filter(Boolean)
  const keys = words.map((word) => Buffer.from(word, 'base64'))
  if (keys.length > 0 && keys.every((key) => key.byteLength === 32)) return keys
  throw usageError('OWNER_SSO_ENCRYPTION_KEY is not a 32-byte key in base64.', 'Make one with: openssl rand -base64 32')
}
