/** Every code block of every document compiles against the installed packages, and every command in them exists. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { type CodeBlock, codeBlocksOf, codeIn, documents } from '../../support/code-blocks.ts'
import { project, runCommand, tsc } from './empty-project.ts'

const folder = join(project, 'documented-code')
// The matrix runs the recipes, with frameworks that this project has not.
const blocks = documents
  .flatMap(codeBlocksOf)
  .filter(({ language, marks }) => ['js', 'ts'].includes(language) && marks['recipe'] === undefined)

describe('the code blocks of the documents, in a project with the packed packages and the oldest TypeScript', () => {
  let problems: string[] = []

  beforeAll(async () => {
    cpSync(fileURLToPath(new URL('documented-code', import.meta.url)), folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    for (const block of blocks) {
      mkdirSync(dirname(join(folder, fileOf(block))), { recursive: true })
      writeFileSync(join(folder, fileOf(block)), givenTo(block) + block.code)
    }
    const printed = await tsc(['--project', folder, '--pretty', 'false'])
    problems = printed.split(/\n(?! )/u).map((line) => line.replace('documented-code/', ''))
  }, 300_000)

  it.each(blocks.map((block) => ({ ...block, name: `${block.document}:${block.line}` })))('$name compiles', (block) => {
    expect(problems.filter((problem) => problem.startsWith(`${fileOf(block)}(`))).toEqual([])
    // What a page says to take for granted, it uses.
    for (const name of namesGivenTo(block)) expect(block.code).toMatch(new RegExp(`\\b${name}\\b`, 'u'))
  })

  it('brings no other problem with it, in the declarations of others neither', () => {
    const files = blocks.map((block) => `${fileOf(block)}(`)
    expect(problems.filter((problem) => !files.some((file) => problem.startsWith(file))).join('')).toBe('')
  })
})

/** How the documents call the programs of the packages. */
const programs = new Map([
  ['owner-sso', 'owner-sso'],
  ['npx @owner-sso/emulator', 'owner-sso-emulator'],
])

describe('the commands in the documents', () => {
  // That page has wrong ones on purpose, and a test of its own.
  const right = documents.filter((document) => document !== 'docs/internals/first-mistakes.md')
  const calls = [...new Set(right.flatMap(codeIn).flatMap(callsIn))]

  const printed = new Map<string, Promise<string>>()
  /** Each help is asked for once: the documents call one command in many ways. */
  function helpOf(command: string, args: readonly string[]): Promise<string> {
    const call = [command, ...args].join(' ')
    const help = printed.get(call) ?? runCommand(command, args)
    printed.set(call, help)
    return help
  }

  it.each(calls)('%s exists, with its options', async (call) => {
    const [program = '', rest = ''] = call.split(/(?<=^owner-sso|emulator) /u)
    const words = rest.split(/\s+/u)
    const [name = '', isCommand] = [words[0], /^[a-z]+$/u.test(words[0] ?? '')]
    const command = programs.get(program) ?? ''
    const help = await helpOf(command, isCommand ? [name, '--help'] : ['--help'])
    // commander answers with its general help where it doesn't know a command.
    expect(help).toContain(isCommand && name !== 'emulator' ? `Usage: ${program} ${name}` : program)
    // The program's own help has the options of every command.
    const all = `${help}\n${await helpOf(command, ['--help'])}`
    for (const option of words.filter((word) => word.startsWith('--'))) {
      expect(all).toMatch(new RegExp(`^ +(?:-\\w, |--\\w+, )?${option}\\b(?!-)`, 'mu'))
    }
  })

  it('are those of the packages', () => {
    for (const program of programs.keys()) expect(calls.join('\n')).toContain(`${program} `)
  })
})

/** Calls of our commands within a piece of code; a placeholder such as `<command>` stands for any. */
function callsIn(code: string): string[] {
  const calls = code.matchAll(/(?:(?<![@/\w-])owner-sso|npx @owner-sso\/emulator) (?:[\w-]|<command>)[^\n|;&)#]*/gu)
  return [...calls].map(([call]) => call.replace('<command> ', '').trim())
}

const compilerOptions = {
  noEmit: true,
  target: 'es2022',
  lib: ['esnext'],
  module: 'nodenext',
  types: ['node'],
  skipLibCheck: false,
  allowJs: true,
  checkJs: true,
  strict: true,
  // A page in JavaScript says no types.
  noImplicitAny: false,
  useUnknownInCatchVariables: false,
}

function fileOf({ document, line, language, marks: { runs = '' } }: CodeBlock): string {
  const name = /\.[jt]s$/u.test(runs) ? runs : `line-${line}.${language}`
  return `${document.replaceAll(/[/.]/gu, '-')}/${name}`
}

function namesGivenTo({ marks: { given = '' } }: CodeBlock): string[] {
  return given.split(/, */u).filter(Boolean)
}

/** On the block's own first line, so that the compiler's line numbers are the block's. */
function givenTo(block: CodeBlock): string {
  const names = namesGivenTo(block)
  return names.length === 0 ? '' : `import { ${names.join(', ')} } from '../given.mjs'; `
}
