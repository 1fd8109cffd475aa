/**
 * What the command has to know of a kind of store. Each kind is one object of this shape, in a file of this folder, and one
 * line in `store-kinds.ts`; nothing else in this package names a kind.
 */
import type { TokenStore } from '@owner-sso/core'
import type { Finding } from '../terminal/finding.ts'
import type { KeyringUse } from '../keyring/keyring-folder.ts'

export interface StoreKind {
  /** How its addresses look: the usual form, then others. */
  readonly forms: readonly [string, ...string[]]
  /** Whether processes of many machines may share it. */
  readonly isOfNetwork?: true
  /** The place that an address names, as this kind writes it; `undefined` for an address that is not one of its own. */
  readonly parse: (address: string) => string | undefined
  /** The address of a place for people and logs: without user name and password. */
  readonly shown: (place: string) => string
  /** Whether there is anything at the place, for a kind that makes its place at the first use. */
  readonly exists?: (place: string) => boolean
  /**
   * Opens the store at a place. Its client is loaded only here, so that a call loads no other.
   *
   * @throws StoreError where it can't be reached
   */
  readonly open: (place: string, how: StoreAccess) => Promise<OpenedStore>
}

export interface StoreAccess {
  /** The keys that records are sealed with; `undefined` where they are plain. */
  readonly encryptionKey: readonly Uint8Array[] | undefined
  readonly ca: string | undefined
  /** Where no key is given: what a folder of this machine may do with the keyring. */
  readonly keyring: KeyringUse | undefined
}

export interface OpenedStore {
  readonly store: TokenStore
  readonly sealed: boolean
  /** Where the key is, unless it was given. */
  readonly keyIn?: string
  /** @throws StoreError where a write would fail, for a kind that can tell without one */
  readonly requireWritable?: () => Promise<void>
  readonly check?: () => Promise<Finding[]>
  /** What the person is told of it once the command has done its work. */
  readonly advice?: readonly string[]
  readonly close?: () => Promise<void>
}
