/**
 * `owner-sso stores`: where token sets can live, and where they do.
 */
import { type Line, printData, printJson } from '../terminal/output.ts'
import { storeAt, storeKinds } from '../stores/store-kinds.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'stores',
  summary: 'list the kinds of stores, and which is in use',
  description: 'Lists where token sets can live, how each is addressed, and which one this call would use.',
  options: {},
  examples: [['owner-sso stores', 'a table']],
  async run({ settings }) {
    const { kind: used, place } = storeAt(settings.store.value)
    const inUse = used.shown(place)
    if (settings.json) {
      const kinds = storeKinds.map(({ scheme, help }) => ({ kind: scheme, address: help.forms[0], what: help.what }))
      await printJson({ inUse, from: settings.store.from, kinds })
      return
    }
    const width = Math.max(...storeKinds.map(({ help }) => help.forms[0].length)) + 2
    const lines = storeKinds.map((kind): Line => {
      const mark = kind === used ? { format: 'green' as const, text: '●' } : '○'
      return [mark, ` ${kind.help.forms[0].padEnd(width)}${kind.help.what}`]
    })
    await printData(...lines, '', `In use: ${inUse} (${settings.store.from})`)
  },
})
