/**
 * What `startEmulator` takes, as types. What each option settles, may be and is by default stands in its row of option-table.ts.
 */
import type { changeableOptions, Complete, Given, startOptions } from './option-table.ts'

/** Options that are settled once and for all when the emulator starts. */
export interface StartOptions extends Given<typeof startOptions> {}

/**
 * Options that `emulator.change`, the control API and the inspector can change while the emulator runs. One that is undefined is at
 * its default.
 */
export interface ChangeableOptions extends Given<typeof changeableOptions> {}

/** How the service behaves. All of it has defaults: the README's table has a row for each. */
export interface EmulatorOptions extends StartOptions, ChangeableOptions {}

/** Whom the firewall challenges, and for how long, in seconds. `maxRequests: null` (or `Infinity`) leaves the other rules alone. */
export type FirewallOptions = Exclude<NonNullable<EmulatorOptions['firewall']>, false>

/** The interface document to the letter; or as recorded, with what legacy clients do as well. */
export type Strictness = EmulatorSettings['strictness']

/**
 * The options with their defaults, as they are now: `emulator.change` sets them while requests are served, so whoever reads one
 * reads it at the time of the request.
 */
export interface EmulatorSettings extends Omit<Complete, 'firewall'> {
  readonly firewall: Required<FirewallOptions> | false
}
