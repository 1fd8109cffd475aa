/**
 * Whether text can be a secret, and what is doubtful about it, before it costs an attempt at the service.
 */
import { secretFromText, unquoted } from '@owner-sso/core'
import { usageError } from '../failure/command-error.ts'
import { printNote } from '../terminal/output.ts'

/**
 * The secret, as core has it. What is seldom meant, but can be, is told.
 *
 * @param where - a variable, or a file
 * @throws CommandError
 */
export function checkedSecret(text: string, where: string): string {
  const secret = orTell('Write it anew.', () => secretFromText(text, where))
  if (secret !== secret.trim()) printNote(`${where} begins or ends with a space, which counts.`)
  if (unquoted(secret) !== secret) printNote(`${where} has quotation marks around it, which count.`)
  return secret
}

/** What `read` finds; its TypeError as a sentence. @throws CommandError */
export function orTell<Value>(next: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw error instanceof TypeError ? usageError(`${error.message}.`, next) : error
  }
}
