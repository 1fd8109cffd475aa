/**
 * One call of one command: what it was given.
 */
import type { Settings } from './settings.ts'

export interface Call {
  readonly settings: Settings
  readonly options: CommandOptions
  readonly args: readonly string[]
}

/** The options that single commands have, by their names in camelCase. */
export interface CommandOptions {
  readonly credentialFile?: string
  readonly totpSecretFile?: string
  readonly factor?: string
  readonly browser?: boolean
  readonly paste?: boolean
  readonly port?: string
  readonly host?: string
  readonly socket?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly behindTlsProxy?: boolean
  readonly publicUrl?: string
  readonly clients?: string
  readonly withProxy?: boolean
  readonly rotate?: boolean
  readonly audit?: string
  readonly alertWebhook?: string
  readonly alertCommand?: string
  readonly alertMqtt?: string
  readonly alertTopic?: string
  readonly scope?: string
  readonly expires?: string
  readonly callsPerMinute?: string
  readonly grace?: string
  readonly watch?: boolean
  readonly live?: boolean
  readonly yes?: boolean
  readonly fromPlain?: boolean
  readonly toPlain?: boolean
  readonly within?: string
  readonly every?: string
  readonly refreshTokenLifetime?: string
  readonly once?: boolean
  readonly dryRun?: boolean
  readonly replace?: boolean
  readonly check?: boolean
  readonly all?: boolean
  readonly file?: string
  readonly plainTextTokens?: boolean
}

/** What the module of a command exports. Resolves to the exit code; a failure is thrown. */
export interface CommandModule {
  readonly run: (call: Call) => Promise<number>
}
