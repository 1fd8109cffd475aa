import { describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { scenarios } from '../../src/index.ts'
import { endpoints } from '../../src/faults/fault.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const guide = readFileSync(new URL('../../../../docs/guides/testing-with-the-emulator.md', import.meta.url), 'utf8')

describe('the README', () => {
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
