/**
 * The code blocks of the documents, and what the comments right before a block say of it, which no reader of the page sees:
 *
 * - `<!-- runs: NAME -->`: a program that a test runs as it stands; `<!-- runs -->`: one of the package's own tests does;
 *   `<!-- interop: NAME -->`: one of tests/interop does.
 * - `<!-- given: tokens, app -->`: names that the page took for granted, declared in documented-code/given.d.mts.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface CodeBlock {
  readonly document: string
  readonly line: number
  readonly language: string
  readonly code: string
  /** From the comments before it: `runs`, `given`. */
  readonly marks: Readonly<Record<string, string>>
}

/** Our own Markdown, from the root down, as paths from there. */
export const documents: readonly string[] = markdownFiles(root)

export function readDocument(document: string): string {
  return readFileSync(join(root, document), 'utf8')
}

/** The fenced blocks of a document. */
export function codeBlocksOf(document: string): CodeBlock[] {
  const text = readDocument(document)
  const fenced = /(?<comments>(?:^<!--.*-->\s+)*)^```(?<language>\w*)\n(?<code>[\s\S]*?)^```$/gmu
  return [...text.matchAll(fenced)].map(
    ({ index, 0: all, groups: { comments = '', language = '', code = '' } = {} }) => ({
      document,
      line: text.slice(0, index + all.indexOf('```')).split('\n').length,
      language,
      code,
      marks: marksIn(comments),
    }),
  )
}

/** Everything that a document shows as code: fenced blocks, indented ones, and code within a sentence. */
export function codeIn(document: string): string[] {
  const text = readDocument(document)
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gmu, '')
  const indented = prose.match(/^(?: {4}.*\n)+/gmu) ?? []
  const inline = [...prose.matchAll(/`([^`]+)`/gu)].map(([, code = '']) => code)
  return [...codeBlocksOf(document).map(({ code }) => code), ...indented, ...inline]
}

/** The lines that a section of a document shows indented: what its reader types. */
export function typedIn(document: string, heading: string): string[] {
  const [, section = ''] = readDocument(document).split(new RegExp(`^#+ ${heading}$`, 'mu'))
  const [ours = ''] = section.replaceAll(/^```[\s\S]*?^```$/gmu, '').split(/^#+ /mu)
  return (ours.match(/^ {4}.*$/gmu) ?? []).map((line) => line.trim())
}

function marksIn(comments: string): Record<string, string> {
  const found = comments.matchAll(/<!-- (?<name>\w+)(?:: (?<value>.*?))? -->/gu)
  return Object.fromEntries([...found].map(({ groups }) => [groups?.['name'] ?? '', groups?.['value'] ?? '']))
}

function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (['node_modules', 'dist', '.git', '.turbo', 'test-artefacts', 'api'].includes(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return markdownFiles(path)
    return entry.name.endsWith('.md') ? [relative(root, path)] : []
  })
}
