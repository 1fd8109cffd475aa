/** A client as the table of docs/reference/compatibility.md drives it. */
import type { Emulator } from '@owner-sso/emulator'

export interface Owner {
  readonly identity: string
  readonly credential: string
  /** The current one of the account's first device; empty where it has none. */
  readonly passcode: string
}

/** The access token of the login, and that of the refresh after it; and what the client itself made of the owner API's lists. */
export interface Ending {
  readonly token: string
  readonly fresh: string
  /** Names: first those of the call before the refresh, then those of the call after it. */
  readonly vehicles: readonly string[]
}

/** Signs in, calls the owner API, refreshes, and calls it again. It rejects where the service's answers don't let it. */
export type PeerClient = (emulator: Emulator, owner: Owner) => Promise<Ending>
