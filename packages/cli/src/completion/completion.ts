/**
 * `owner-sso completion`: a script that completes commands, options and account names.
 */
import { usageError } from '../failure/command-error.ts'
import type { Call, Work } from '../manual/command.ts'
import type { completion } from '../manual/manual.ts'
import { printData } from '../terminal/output.ts'
import { bash } from './bash.ts'
import { fish } from './fish.ts'
import { powershell } from './powershell.ts'
import { type Commands, type ShellName, shellNames } from './words.ts'
import { zsh } from './zsh.ts'

const shells: Readonly<Record<ShellName, (commands: Commands) => string>> = { bash, zsh, fish, powershell }

/** @param commands - all there are, this one among them */
export function completing(commands: Commands): Work<typeof completion> {
  return {
    async run({ args: [shell = ''] }: Call<typeof completion>) {
      const name = shellNames.find((one) => one === shell)
      if (name === undefined) {
        const next = `There is one for ${shellNames.join(', ')}.`
        throw usageError(`There is no completion for ${JSON.stringify(shell)}.`, next)
      }
      await printData(...shells[name](commands).split('\n'))
    },
  }
}
