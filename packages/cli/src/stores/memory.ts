/**
 * `memory:`: the memory of this call.
 */
import type { StoreKind } from './store-kind.ts'

export const memoryStore: StoreKind = {
  forms: ['memory:'],
  parse: (address) => (address === 'memory:' || address === 'memory' ? '' : undefined),
  shown: () => 'memory:',
  async open() {
    const { memoryTokenStore } = await import('@owner-sso/token-store-memory')
    return {
      store: memoryTokenStore(),
      sealed: false,
      check: async () => {
        const { note } = await import('../terminal/finding.ts')
        return [
          note('store', 'Its content is lost after each command.', 'Choose a folder or a server: --store file:PATH'),
        ]
      },
    }
  },
}
