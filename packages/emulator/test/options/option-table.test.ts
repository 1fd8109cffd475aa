import { describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { demoAccounts } from '../../src/index.ts'
import { optionNames, optionTable, type OptionName } from '../../src/options/option-table.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
/** The options' own table: other tables have rows of the same names. */
const table = readme.split('\n## Options\n')[1] ?? ''
const types =
  readFileSync(new URL('../../src/options/options.ts', import.meta.url), 'utf8').split(
    '/** Options that are settled',
  )[1] ?? ''

/** The cells of the option's row in the README. */
function rowOf(option: OptionName): readonly string[] {
  const row = table.split('\n').find((line) => line.startsWith(`| \`${option}\` `)) ?? ''
  return row
    .split(/(?<!\\)\|/u)
    .slice(1, -1)
    .map((cell) => cell.trim())
}

/** A default as README and doc comments write it. */
function written(value: unknown): string {
  if (value === undefined) return 'by `strictness`'
  if (value === demoAccounts) return 'the demo accounts'
  if (typeof value === 'number') return value.toLocaleString('en-US')
  if (Array.isArray(value)) return value.map((item) => `\`${String(item)}\``).join(', ')
  return `\`${typeof value === 'string' ? value : inspect(value)}\``
}

describe('an option is described in one table', () => {
  it('by a row for each member of the types, in neither more nor less', () => {
    const members = [...types.matchAll(/^ {2}readonly (\w+)\?:/gmu)]
    expect(new Set(members.map(([, name]) => name))).toEqual(new Set(optionNames))
  })

  it.each(optionNames)('whose default its README row has, with its sentence and its choices: %s', (name) => {
    const { about, check, default: preset } = optionTable[name]
    const [, shown, text = ''] = rowOf(name)
    expect(shown).toBe(written(preset))
    expect(text.replaceAll('`', '').slice(0, about.length)).toBe(about)
    const choices = (check.choices ?? []).filter((choice) => typeof choice !== 'boolean')
    for (const choice of choices) expect(text).toContain(`\`${String(choice)}\``)
  })

  it.each(optionNames)('whose default its doc comment has: %s', (name) => {
    const comment = types.split(`\n  readonly ${name}?:`)[0]?.split('/**').at(-1)
    expect(/@defaultValue (.*)/u.exec(comment ?? '')?.[1]).toBe(written(optionTable[name].default))
  })

  it('whose README names those that cannot change while the emulator runs', () => {
    const sentence = /All options except ([^.]+?) can be changed/su.exec(readme)?.[1] ?? ''
    const named = [...sentence.matchAll(/`(\w+)`/gu)].map(([, name]) => name)
    expect(new Set(named)).toEqual(new Set(optionNames.filter((name) => !optionTable[name].changeable)))
  })
})

it('each option is what the last release said: a change of a default, a group or what is taken is one for its users', () => {
  // What is taken for each field stands in the words of `expected`.
  const rows = Object.entries(optionTable).map(([name, { check, ...row }]) => {
    const { fields: _, ...told } = check
    return [name, { ...row, ...told }]
  })
  expect(Object.fromEntries(rows)).toMatchSnapshot()
})

describe('an option takes', () => {
  it.each<[OptionName, readonly unknown[], readonly unknown[]]>([
    ['port', [0, 65_535], [-1, 65_536, 1.5, '1', Number.NaN]],
    ['host', ['::1'], ['', 1]],
    ['tls', [true, false], ['yes', 0, null]],
    ['passcodePage', [{}, { csrf: 'none' }, { inTemplate: undefined }], [null, [], { csrf: 1 }, { toString: true }]],
    [
      'hiddenInputs',
      [{ rename: { _csrf: 'x' }, extra: {} }],
      [{ rename: { _csrf: 1 } }, { rename: { toString: 'x' } }],
    ],
    ['redirectUris', [[], ['a:b']], [['a'], 'a:b', [1]]],
    ['redirectParameters', [{}, { a: '' }], [{ a: 1 }, ['a'], null]],
    ['sessionLifetime', [0, 0.5], [-1, '1', Number.NaN, Infinity]],
    ['latency', [0, 0.5], [-1, '1', Infinity]],
    ['refreshTokenLifetime', [null, 0], [undefined, -1]],
    ['mintedBy', [null, {}, { tls: 'TLSv1.3', http: '2' }], [false, { tls: '1.3' }]],
    ['expiresIn', [null, 0, ''], [undefined, {}, true]],
    ['firewall', [false, {}, { maxRequests: null }, { windowSeconds: 0.5 }], [true, null, { maxRequests: 0 }]],
    ['firewall', [{ blockSeconds: 1 }], [{ blockSeconds: -1 }, { blockSeconds: '1' }, { windowSeconds: null }]],
    ['firewallCookies', [[], ["a!#$%&'*+.^`|~-_9"]], [['a b'], [' a'], ['a;'], [''], [1], 'a']],
    ['allowBrowsers', [true, false, /x/u], ['x', null]],
  ])('%s: at each limit, and not one beyond it', (name, good, bad) => {
    const { accepts } = optionTable[name].check
    expect(good.map((value) => accepts(value))).toEqual(good.map(() => true))
    expect(bad.map((value) => accepts(value))).toEqual(bad.map(() => false))
  })
})
