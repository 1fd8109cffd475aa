/**
 * What a command is: its name, what it takes, what it says of itself in `--help`, and its work.
 */
import type { OptionsOf, OptionTable } from '../options/option.ts'
import type { Settings } from '../settings/settings.ts'

export interface Command<Options extends OptionTable = OptionTable> {
  readonly name: string
  /** Its arguments, as the usage line shows them. */
  readonly args?: string
  readonly summary: string
  readonly description: string
  readonly options: Options
  readonly examples: readonly (readonly [command: string, comment: string])[]
  readonly passesOptionsOn?: true
  /** It says itself what is wrong with the settings. */
  readonly examinesSettings?: true
  /** Resolves to the exit code, or to nothing for 0; a failure is thrown. */
  run(call: Call<Options>): Promise<number | void>
}

export interface Call<Options extends OptionTable> {
  readonly settings: Settings
  readonly options: OptionsOf<Options>
  readonly args: readonly string[]
}

/** The types tie the options that a command declares to those that its work reads. */
export function defineCommand<Options extends OptionTable>(command: Command<Options>): Command<Options> {
  return command
}
