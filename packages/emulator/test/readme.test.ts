/** The README's tables say what the code does. `WRITE_README=1` puts the options into theirs. */
import { describe, expect, it } from '@jest/globals'
import { readFileSync, writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { endpoints } from '../src/faults/fault.ts'
import { demoAccounts, scenarios } from '../src/index.ts'
import { isChangeable, optionNames, optionTable, type OptionName } from '../src/options/option-table.ts'

const file = new URL('../README.md', import.meta.url)
const readme = readFileSync(file, 'utf8')
const guide = readFileSync(new URL('../../../docs/guides/testing-with-the-emulator.md', import.meta.url), 'utf8')

describe('the README', () => {
  it('has a row for each option, from the table that the code reads', () => {
    const [written = ''] = /\n\| option .*?\n\n/su.exec(readme) ?? []
    const rows = ['| option | default | what it settles |', '| - | - | - |', ...optionNames.map(rowOf), '', '']
    const right = readme.replace(written, () => `\n${rows.join('\n')}`)
    if (process.env['WRITE_README']) writeFileSync(file, right)
    expect(unpadded(readFileSync(file, 'utf8'))).toBe(unpadded(right))
  })

  it('names the options that cannot change while the emulator runs', () => {
    const sentence = /All options except ([^.]+?) can be changed/su.exec(readme)?.[1] ?? ''
    const named = [...sentence.matchAll(/`(\w+)`/gu)].map(([, name]) => name)
    expect(new Set(named)).toEqual(new Set(optionNames.filter((name) => !isChangeable(name))))
  })

  it.each(Object.entries(scenarios))('has the scenario %s in its own words', (name, { about }) => {
    const row = readme.split('\n').find((line) => line.startsWith(`| \`${name}\` `))
    expect(row).toContain(`| ${about} `)
  })

  it.each(endpoints)('names %s', (name) => {
    expect(readme).toContain(`\`${name}\``)
  })
})

it('the guide applies scenarios that exist', () => {
  const applied = [...guide.matchAll(/applyScenario\('([\w-]+)'\)|--scenario ([\w-]+)/gu)].map(
    ([, call, flag]) => call ?? flag,
  )
  expect(applied.length).toBeGreaterThan(1)
  expect(Object.keys(scenarios)).toEqual(expect.arrayContaining(applied))
})

function rowOf(name: OptionName): string {
  const { about, details, check, default: preset } = optionTable[name]
  const choices = check.choices?.filter((choice) => typeof choice !== 'boolean') ?? []
  const more = details ?? choices.map((choice) => `\`${String(choice)}\``).join(' or ')
  const told = more === '' ? about : `${about}: ${more}`
  return `| \`${name}\` | ${defaultText(preset)} | ${told.replaceAll('|', '\\|')} |`
}

function defaultText(value: unknown): string {
  if (value === undefined) return 'by `strictness`'
  if (value === demoAccounts) return 'the demo accounts'
  if (typeof value === 'number') return value.toLocaleString('en-US')
  if (Array.isArray(value)) return value.map((item) => `\`${String(item)}\``).join(', ')
  return `\`${typeof value === 'string' ? value : inspect(value)}\``
}

/** As the formatter does not pad it. */
function unpadded(table: string): string {
  return table.replaceAll(/ {2,}/gu, ' ').replaceAll(/-+/gu, (dashes) => (dashes.length > 2 ? '-' : dashes))
}
