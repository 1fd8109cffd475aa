/**
 * Notes that several processes share and change: in a file, or in the token store (`notebook` of core).
 */
import { notebook, type Notebook, type TokenStore } from '@owner-sso/core'

export interface SharedNotes extends Notebook {
  /** For messages: the file, or the store. */
  readonly where: string
}

/** @param topic - tells them from other notes in the same store */
export function storeNotes(store: TokenStore, topic: string): SharedNotes {
  return { where: `The notes “${topic}” in the token store`, ...notebook(store, topic) }
}
