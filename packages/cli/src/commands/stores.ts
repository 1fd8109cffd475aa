/** `owner-sso stores`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'

export const stores = command({
  name: 'stores',
  summary: 'list the kinds of stores, and which is in use',
  description: 'Lists where token sets can live, how each is addressed, and which one this call would use.',
  options: {},
  examples: [['owner-sso stores', 'a table']],
})
