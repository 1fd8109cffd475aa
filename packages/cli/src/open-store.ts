/**
 * Opens the store of an address.
 */
import { encryptionKeys } from './encryption-key.ts'
import type { OpenedStore } from './stores/store-kind.ts'
import { storeAt } from './stores/store-kinds.ts'

export interface OpenStore extends Required<OpenedStore> {
  /** For people: without a password. */
  readonly shown: string
}

export interface StoreOptions {
  /** Path of a PEM file, for a store that is spoken to over TLS. */
  readonly ca: string | undefined
  /** The records are plain, whatever `OWNER_SSO_ENCRYPTION_KEY` says. */
  readonly plain?: boolean | undefined
}

/** @throws CommandError for a wrong address or key; StoreError where it can't be reached */
export async function openStore(address: string, { ca, plain = false }: StoreOptions): Promise<OpenStore> {
  const { kind, place } = storeAt(address)
  const opened = await kind.open(place, { ca, encryptionKey: plain ? undefined : encryptionKeys() })
  return {
    shown: kind.shown(place),
    exists: () => true,
    requireWritable: async () => undefined,
    check: async () => [],
    close: async () => undefined,
    ...opened,
  }
}
