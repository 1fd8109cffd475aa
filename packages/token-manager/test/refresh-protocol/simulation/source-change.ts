/**
 * The token manager with a small change in its source: a copy of the refresh protocol with one piece of text replaced, loaded
 * beside the real one. It shares everything else with it, errors included.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { manageTokens } from '../../../src/refresh-protocol/manager.ts'
import type { Rules } from '../../../src/refresh-protocol/rules.ts'

export interface SourceChange {
  /** In `src/refresh-protocol`, without its ending. */
  readonly file: string
  /** Stands there exactly once. */
  readonly find: string
  readonly replace: string
}

interface Changed {
  readonly manage: typeof manageTokens
  readonly rules: Rules
}

const packageFolder = join(dirname(fileURLToPath(import.meta.url)), '../../..')
const source = join(packageFolder, 'src/refresh-protocol')

export async function withSourceChange({ file, find, replace }: SourceChange): Promise<Changed> {
  // The same folder for the same change, so that Jest compiles it once.
  const name = createHash('sha256')
    .update(JSON.stringify([file, find, replace]))
    .digest('hex')
    .slice(0, 16)
  const folder = join(packageFolder, 'test-artefacts/mutants', name)
  mkdirSync(folder, { recursive: true })
  for (const entry of readdirSync(source)) {
    const text = readFileSync(join(source, entry), 'utf8')
    const changed = entry === `${file}.ts` ? replaced(text, find, replace, entry) : text
    write(join(folder, entry), changed.replaceAll("from '../", "from '../../../src/"))
  }
  const { manageTokens: manage } = (await import(join(folder, 'manager.ts'))) as { manageTokens: Changed['manage'] }
  const { rules } = (await import(join(folder, 'rules.ts'))) as Pick<Changed, 'rules'>
  return { manage, rules }
}

function replaced(text: string, find: string, replace: string, file: string): string {
  if (text.split(find).length !== 2) throw new Error(`${file} must hold exactly once what a mutant changes: ${find}`)
  return text.replace(find, () => replace)
}

/** Where it is another one already: what another run reads is never half-written. */
function write(path: string, text: string): void {
  try {
    if (readFileSync(path, 'utf8') === text) return
  } catch {
    // It is not there yet.
  }
  writeFileSync(path, text)
}
