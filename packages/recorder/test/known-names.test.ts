import { expect, it } from '@jest/globals'
import { type Fixture, startRecorder, startReplay } from '../src/index.ts'

const upstream = 'http://127.0.0.1:1'
const recording: Fixture = { format: 'owner-sso login recording', version: 1, placeholders: {}, exchanges: [] }

const http2: object = { htp2: true }
const oldTls: object = { tls: { minversion: 'TLSv1.3' } }

/** It should not have begun. */
async function begun(started: Promise<{ close(): Promise<void> }>): Promise<void> {
  await (await started).close()
}

it.each<[typed: string, meant: string, (typo: object) => Promise<{ close(): Promise<void> }>]>([
  ['upstreamCA', 'upstreamCa', (typo) => startRecorder({ upstream, ...typo })],
  ['fixtur', 'fixture', (typo) => startRecorder({ upstream, ...typo })],
  ['transport.htp2', 'transport.http2', () => startRecorder({ upstream, transport: http2 })],
  ['transport.tls.minversion', 'transport.tls.minVersion', () => startRecorder({ upstream, transport: oldTls })],
  ['prot', 'port', (typo) => startReplay(recording, typo)],
])('a mistyped option is a TypeError that says which was meant: %s for %s', async (typed, meant, start) => {
  const refused = `Unknown option ${typed}. Did you mean ${meant}? There are `
  await expect(begun(start({ [typed]: '1' }))).rejects.toThrow(refused)
  await expect(begun(start({ [typed]: '1' }))).rejects.toThrow(TypeError)
})
