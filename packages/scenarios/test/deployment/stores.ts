/** The stores that every scenario runs on: one row each. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What a worker opens its store with; plain data. */
export type StoreSettings =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }

export interface StoreRow {
  readonly name: string
  /** A new, empty store. */
  readonly make: () => Promise<{ readonly settings: StoreSettings; readonly remove: () => Promise<void> }>
}

export const fileRow: StoreRow = {
  name: 'file store',
  async make() {
    const folder = mkdtempSync(join(tmpdir(), 'owner-sso-scenario-'))
    return {
      settings: { kind: 'file', path: join(folder, 'tokens') },
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}

export const stores: readonly StoreRow[] = [fileRow]
