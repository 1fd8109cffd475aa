/**
 * The pages of the site, made of the repository's own documents: which there are, where each stands, and what becomes of
 * their links. The documents are written for a reader of the repository; here they lead from page to page.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

const guide = (name) => `docs/guides/${name}.md`
const reference = (name) => `docs/reference/${name}.md`
const readme = (folder) => `${folder}/README.md`

/** Groups of documents, in the order of the sidebar. */
export const groups = [
  {
    title: 'Begin',
    documents: [
      'README.md',
      ...[
        'todays-service',
        'registered-application',
        'any-oauth-service',
        'sign-in-with-passport',
        'second-factor',
        'examples',
        'frameworks',
      ].map(guide),
      ...['testing-with-the-emulator', 'coming-from-other-clients'].map(guide),
    ],
  },
  {
    title: 'Questions',
    documents: [
      ...['faq', 'why-signed-out', 'when-the-firewall-blocks-you', 'refreshed-tokens', 'regions'].map(guide),
      guide('report-a-broken-login'),
    ],
  },
  {
    title: 'Run it',
    documents: [
      ...[
        'where-tokens-live',
        'many-instances',
        'docker',
        'refresh-elsewhere',
        'broker-in-a-container',
        'serverless',
        'fleets',
      ].map(guide),
      ...['logs-metrics-traces', 'security-model'].map(guide),
      'SECURITY.md',
    ],
  },
  {
    title: 'Use the tokens',
    documents: [
      ...['proxying', 'one-sign-in-for-every-program', 'command-line', 'unattended-scripts'].map(guide),
      ...['desktop-applications', 'curl-walk'].map(guide),
    ],
  },
  {
    title: 'Reference',
    documents: [
      ...['errors', 'broker-protocol'].map(reference),
      'tests/broker-conformance/README.md',
      ...['compatibility', 'supported-versions', 'performance', 'torture'].map(reference),
    ],
  },
  {
    title: 'Packages',
    documents: [
      'core',
      'token-manager',
      'passport',
      'express',
      'broker',
      'cli',
      'node-red',
      'token-store-memory',
      'token-store-file',
      'token-store-redis',
      'token-store-sql',
      'token-store-conformance',
      'emulator',
      'opentelemetry',
    ].map((name) => readme(`packages/${name}`)),
  },
  {
    title: 'Examples',
    documents: ['owner-portal', 'shared-proxy', 'headless-poller'].map((name) => readme(`examples/${name}`)),
  },
]

/** For those who work on it: apart from the rest, and not found by the search. */
export const internals = {
  title: 'Internals',
  documents: [
    ...['architecture', 'refresh-protocol', 'keeper', 'reliability', 'sso-interface', 'decisions'].map(
      (name) => `docs/internals/${name}.md`,
    ),
    'docs/internals/first-mistakes.md',
    'tests/model/README.md',
    'CONTRIBUTING.md',
  ],
}

/** All published packages share one version. */
export const { version } = manifestOf('packages/core')
const { repository } = manifestOf('.')

/** Where a document stands in the site, as a Markdown file. */
export function pageOf(document) {
  if (document === 'README.md') return 'index.md'
  if (document === 'tests/model/README.md') return 'internals/model.md'
  if (document === 'tests/broker-conformance/README.md') return 'reference/broker-conformance.md'
  if (document === 'CONTRIBUTING.md') return 'internals/contributing.md'
  if (document === 'SECURITY.md') return 'guides/security.md'
  return document.replace(/^docs\//u, '').replace(/\/README\.md$/u, '.md')
}

/** Every document that is a page. */
export const documents = [...groups, internals].flatMap((group) => group.documents)

export function titleOf(document) {
  const [, title = document] = /^# (.+)$/mu.exec(readFileSync(join(root, document), 'utf8')) ?? []
  return title.replaceAll('`', '').replace(/^@owner-sso\//u, '')
}

/**
 * The text of a document as a page, and the pictures that it shows.
 *
 * @returns {{ text: string, pictures: { from: string, to: string }[] }}
 */
export function render(document) {
  const pictures = []
  const here = posix.dirname(pageOf(document))
  const text = inline(readFileSync(join(root, document), 'utf8'))
    // What tests are told, and no reader.
    .replaceAll(/^<!--.*-->\n+/gmu, '')
    .split(/(^```[^]*?^```$)/gmu)
    .map((part) => (part.startsWith('```') ? part : fenced(linked(part))))
    .join('')
    .replace(/\n+$/u, '\n')
  return { text, pictures }

  function linked(prose) {
    return prose.replaceAll(
      /(?<picture>!?)\[(?<label>[^\]]*)\]\((?<target>[^)#\s]*)(?<anchor>#[^)]*)?\)/gu,
      (...args) => {
        const { picture, label, target, anchor = '' } = args.at(-1)
        const isHome = repository !== undefined && target.startsWith(addressOf(''))
        if (!isHome && /^(?:[a-z]+:|$)/u.test(target)) return args[0]
        const path = isHome
          ? target.slice(addressOf('').length)
          : posix.join(posix.dirname(document), target).replace(/\/$/u, '')
        if (picture !== '') {
          const to = posix.join('pictures', posix.basename(path))
          pictures.push({ from: join(root, path), to })
          return `![${label}](${relative(to)})`
        }
        const page = targetOf(path)
        if (page !== undefined) return `[${label}](${relative(page.page)}${anchor || page.anchor})`
        // A source file is shown where the repository is, once that is public.
        return repository === undefined ? label : `[${label}](${addressOf(path)})`
      },
    )
  }

  function relative(page) {
    const path = posix.relative(here, page)
    return path.startsWith('.') ? path : `./${path}`
  }
}

/** A link that is named at the end of a document, put where its name is used. */
function inline(text) {
  const definition = /^\[(?<name>[^\]]+)\]: (?<target>\S+)\n/gmu
  const targets = new Map([...text.matchAll(definition)].map(({ groups: { name, target } }) => [name, target]))
  return text
    .replaceAll(definition, '')
    .replaceAll(/\[(?<label>[^\]]+)\](?:\[(?<name>[^\]]+)\])?(?![(:])/gu, (all, label, name = label) =>
      targets.has(name) ? `[${label}](${targets.get(name)})` : all,
    )
}

/** The page that a path of the repository stands for. */
function targetOf(path) {
  const document = [path, posix.join(path, 'README.md')].find((each) => documents.includes(each))
  if (document !== undefined) return { page: pageOf(document), anchor: '' }
  if (path === 'docs/guides') return { page: 'index.md', anchor: '#where-to-read-on' }
  if (path === 'docs/internals') return { page: pageOf('docs/internals/architecture.md'), anchor: '' }
  if (!existsSync(join(root, path))) throw new Error(`A link leads to ${path}, which does not exist`)
  return undefined
}

function addressOf(path) {
  const address = (repository.url ?? repository).replace(/^git\+/u, '').replace(/\.git$/u, '')
  return `${address}/blob/main/${path}`
}

/** What a reader types stands indented in the documents: as a fenced block, it can be copied with one click. */
function fenced(prose) {
  return prose.replaceAll(
    /(?<=\n\n)(?: {4}.*\n(?:\n(?= {4}))?)+/gu,
    (block) => `\`\`\`sh\n${block.replaceAll(/^ {4}/gmu, '')}\`\`\`\n`,
  )
}
