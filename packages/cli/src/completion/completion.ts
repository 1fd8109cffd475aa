/**
 * `owner-sso completion`: a script that completes commands, options and account names.
 */
import { usageError } from '../command-line/command-error.ts'
import type { Call, Work } from '../command-line/command.ts'
import type { completion } from '../command-line/manual.ts'
import { printData } from '../terminal/output.ts'
import { bash } from './bash.ts'
import { fish } from './fish.ts'
import type { Commands } from './words.ts'
import { zsh } from './zsh.ts'

const shells: Readonly<Record<string, (commands: Commands) => string>> = { bash, zsh, fish }

/** @param commands - all there are, this one among them */
export function completing(commands: Commands): Work<typeof completion> {
  return {
    async run({ args: [shell = ''] }: Call<typeof completion>) {
      const script = Object.hasOwn(shells, shell) ? shells[shell] : undefined
      if (script === undefined) {
        throw usageError(`There is no completion for ${JSON.stringify(shell)}.`, 'There is one for bash, zsh and fish.')
      }
      await printData(...script(commands).split('\n'))
    },
  }
}
