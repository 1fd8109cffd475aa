/**
 * `owner-sso completion`: a script that completes commands, options and account names.
 */
import type { Call } from '../call.ts'
import { exitCodes, usageError } from '../command-error.ts'
import { bash } from '../completion/bash.ts'
import { fish } from '../completion/fish.ts'
import { zsh } from '../completion/zsh.ts'
import { printData } from '../output.ts'

const shells: Readonly<Record<string, () => string>> = { bash, zsh, fish }

export async function run({ args }: Call): Promise<number> {
  const [shell = ''] = args
  const script = Object.hasOwn(shells, shell) ? shells[shell] : undefined
  if (script === undefined) {
    throw usageError(`There is no completion for ${JSON.stringify(shell)}.`, 'There is one for bash, zsh and fish.')
  }
  await printData(...script().split('\n'))
  return exitCodes.ok
}
