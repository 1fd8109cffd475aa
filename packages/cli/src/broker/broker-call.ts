/**
 * One call of `owner-sso broker`, whatever its action.
 */
import type { Call } from '../command-line/command.ts'
import type { broker } from '../commands/broker.ts'

export type BrokerCall = Call<typeof broker>
