/** Where those keep tokens that leave it to the application: a file that is written whole or not at all, which is more than most would do. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export function oneFile({ path }) {
  const file = join(path, 'tokens.json')
  const next = `${file}.next`
  return {
    load: async () => JSON.parse(await readFile(file, 'utf8').catch(() => '{}')),
    async save(tokens) {
      await writeFile(next, JSON.stringify(tokens))
      await rename(next, file)
    },
  }
}
