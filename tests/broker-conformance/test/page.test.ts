/** docs/reference/broker-protocol.md: its sections are those that the command names, and its clients run. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { codeBlocksOf, readDocument } from '../../../tests/support/code-blocks.ts'
import { describeWithPrograms } from '../../../tests/support/programs.ts'
import { optional } from '../src/optional.ts'
import { required } from '../src/required.ts'
import { account, startHome } from './home.ts'

const page = 'docs/reference/broker-protocol.md'

it('has a section for each of the command, in that order, and says which are optional', () => {
  const sections = readDocument(page).split(/^## /mu).slice(1)
  const titled = sections.map((section) => [section.split('\n')[0], /^.*\s+(?:All )?optional/iu.test(section)])
  const checked = [...required, ...optional].map(({ section, isRequired }) => [section, !isRequired])
  expect(titled.slice(0, -1)).toEqual(checked.filter(([section], at) => checked[at - 1]?.[0] !== section))
})

describeWithPrograms(
  'curl',
  'python3',
  'gccgo',
)('the clients of the page', () => {
  it('print the token, and fail with a key that was revoked', async () => {
    await using home = await startHome()
    const code = (language: string): string => {
      const found = codeBlocksOf(page).find((block) => block.language === language)
      if (found === undefined) throw new Error(`The page has no client in ${language}.`)
      return found.code
    }
    const ran = async (program: string, args: readonly string[], key: string): Promise<[number, string]> => {
      const env = { PATH: process.env['PATH'], BROKER_URL: home.url, BROKER_KEY: key }
      const child = spawn(program, args, { cwd: home.folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
      const [printed, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
      return [status, printed.trim()]
    }
    await writeFile(join(home.folder, 'client.go'), code('go'))
    expect(await ran('gccgo', ['-o', 'client', 'client.go'], '')).toEqual([0, ''])
    const clients: Record<string, [string, ...string[]]> = {
      shell: ['sh', '-c', code('sh')],
      Python: ['python3', '-c', code('python')],
      Go: [join(home.folder, 'client')],
      Node: [process.execPath, '--input-type=module', '--eval', code('js')],
    }
    const token = await home.tokens.getAccessToken(account)
    for (const [name, [program, ...args]] of Object.entries(clients)) {
      expect([name, await ran(program, args, home.key)]).toEqual([name, [0, token]])
      const [status, printed] = await ran(program, args, home.revokedKey)
      expect([name, status > 0, printed]).toEqual([name, true, ''])
    }
  })
})
