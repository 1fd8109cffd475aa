/**
 * `node tools/build/link-home.mjs https://github.com/OWNER/NAME`: writes into the manifests of the published packages and of
 * the repository where they come from, which registry pages, provenance and the site link to. A README is packed without the
 * documents around it: its links to them become addresses.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)
const address = /^https:\/\/[\w.-]+(?:\/[\w.-]+){2,}$/u.exec(process.argv[2] ?? '')?.[0]
if (address === undefined) {
  console.error('Give the address of the repository, such as https://github.com/OWNER/NAME.')
  process.exit(2)
}

write('package.json')
for (const folder of readdirSync(new URL('packages/', root))) {
  write(`packages/${folder}/package.json`, `packages/${folder}`)
  linkDocuments(`packages/${folder}`)
}

function linkDocuments(folder) {
  const file = new URL(`${folder}/README.md`, root)
  if (!existsSync(file)) return
  const link = /(?<=\]\()\.\.\/[^)#\s]+/gu
  const text = readFileSync(file, 'utf8').replaceAll(link, (path) => `${address}/blob/main/${posix.join(folder, path)}`)
  writeFileSync(file, text)
}

function write(path, directory) {
  const file = fileURLToPath(new URL(path, root))
  const {
    name,
    version,
    private: isPrivate,
    type,
    description,
    keywords,
    license,
    ...rest
  } = JSON.parse(readFileSync(file, 'utf8'))
  if (isPrivate && directory !== undefined) return
  const home = directory === undefined ? '' : `/tree/main/${directory}`
  // In the order in which oxfmt keeps them.
  const manifest = {
    name,
    version,
    private: isPrivate,
    description,
    keywords,
    homepage: `${address}${home}#readme`,
    bugs: { url: `${address}/issues` },
    license,
    repository: { type: 'git', url: `git+${address}.git`, directory },
    type,
    ...rest,
  }
  writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`)
}
