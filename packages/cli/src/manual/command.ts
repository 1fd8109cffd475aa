/**
 * What a command is called, takes, and says of itself in `--help`; and what its work is given.
 */
import type { Settings } from '../settings/settings.ts'
import type { OptionsOf, OptionTable } from '../options/option.ts'

export interface Command<Options extends OptionTable = OptionTable> {
  readonly name: string
  /** Its arguments, as the usage line shows them. */
  readonly args?: string
  readonly summary: string
  readonly description: string
  readonly options: Options
  readonly examples: readonly (readonly [command: string, comment: string])[]
  /** Its options are somebody else's. */
  readonly passesOptionsOn?: true
  /** It says itself what is wrong with the settings. */
  readonly examinesSettings?: true
}

export function command<Options extends OptionTable>(described: Command<Options>): Command<Options> {
  return described
}

/** One call of a command. */
export interface Call<Called extends Command> {
  readonly settings: Settings
  readonly options: OptionsOf<Called['options']>
  readonly args: readonly string[]
}

/** The module of a command's work. Resolves to the exit code, or to nothing for 0; a failure is thrown. */
export interface Work<Called extends Command> {
  readonly run: (call: Call<Called>) => Promise<number | void>
}
