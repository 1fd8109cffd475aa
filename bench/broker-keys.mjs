/**
 * What the time tells of a key: how long the broker takes for the right key of a client, an unknown one, one whose hash begins
 * like that of a client, and a revoked one. `node bench/broker-keys.mjs [CLIENTS]`. Ratios, all in one run.
 *
 * The list is a file that nobody changes meanwhile, so what is measured is the look-up, and one look at the file.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { brokerClients } from '@owner-sso/broker'

const count = Number(process.argv[2] ?? 1000)
const [batches, batch] = [400, 50]
const hashOf = (key) => createHash('sha256').update(key).digest('hex')
const key = (name) => `owner-sso-${hashOf(name).slice(0, 43)}`
const client = (name, keySha256) => ({ name, keySha256, accounts: ['ann@example.com'], scope: ['token'] })
const at = ({ times }, part) => times.toSorted((a, b) => a - b)[Math.floor(times.length * part)]

const folder = mkdtempSync(join(tmpdir(), 'owner-sso-bench-keys-'))
try {
  const near = hashOf(key('near')).slice(0, 16).padEnd(64, '0')
  const list = Array.from({ length: count }, (_, index) => client(`client ${index}`, hashOf(key(`client ${index}`))))
  const file = join(folder, 'clients.json')
  writeFileSync(
    file,
    JSON.stringify({ clients: [...list, client('near', near), client('revoked', hashOf(key('revoked')))] }),
  )
  const clients = brokerClients({ file })
  await clients.revoke('revoked')
  // A file that was changed a moment ago is read again for each call.
  await pause(200)

  const candidates = [
    { name: 'the right key', key: key(`client ${count >> 1}`), isKnown: true },
    { name: 'an unknown key', key: key('nobody') },
    { name: 'a key whose hash begins alike', key: key('near') },
    { name: 'a revoked key', key: key('revoked') },
  ]
  for (const candidate of candidates) {
    candidate.times = []
    const isFound = (await clients.find(candidate.key)) !== undefined
    if (isFound !== (candidate.isKnown === true)) throw new Error(`Wrongly told: ${candidate.name}`)
  }
  // In turns, each time from another one on, so that all meet the same machine.
  for (let turn = 0; turn < batches; turn += 1) {
    for (const index of candidates.keys()) {
      const { key: sent, times } = candidates[(turn + index) % candidates.length]
      const began = process.hrtime.bigint()
      for (let call = 0; call < batch; call += 1) await clients.find(sent)
      times.push(Number(process.hrtime.bigint() - began) / batch)
    }
  }

  const [right] = candidates
  console.log(`${count} clients`)
  console.table(
    candidates.map((each) => ({
      candidate: each.name,
      'µs a call': Number((at(each, 0.5) / 1000).toFixed(2)),
      'to the right key': Number((at(each, 0.5) / at(right, 0.5)).toFixed(3)),
      'fastest tenth, ratio': Number((at(each, 0.1) / at(right, 0.1)).toFixed(3)),
    })),
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
