import { expect, it } from '@jest/globals'
import { type Fixture, startRecorder, startReplay } from '../src/index.ts'

const upstream = 'http://127.0.0.1:1'
const recording: Fixture = { format: 'owner-sso login recording', version: 1, placeholders: {}, exchanges: [] }

/** It should not have begun. */
async function begun(started: Promise<{ close(): Promise<void> }>): Promise<void> {
  await (await started).close()
}

it.each<[typed: string, meant: string, (typo: object) => Promise<{ close(): Promise<void> }>]>([
  ['upstreamCA', 'upstreamCa', (typo) => startRecorder({ upstream, ...typo })],
  ['fixtur', 'fixture', (typo) => startRecorder({ upstream, ...typo })],
  ['prot', 'port', (typo) => startReplay(recording, typo)],
])('a mistyped option is a TypeError that says which was meant: %s for %s', async (typed, meant, start) => {
  const refused = `Unknown option ${typed}. Did you mean ${meant}? There are `
  await expect(begun(start({ [typed]: '1' }))).rejects.toThrow(refused)
  await expect(begun(start({ [typed]: '1' }))).rejects.toThrow(TypeError)
})
