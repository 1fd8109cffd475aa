/** B-B B5: whenever the power goes, and whatever of the unsynced data is lost: the old record or the new one. */
import { describe, expect, test } from '@jest/globals'
import type { Versioned } from '@owner-sso/token-manager'
import * as fc from 'fast-check'
import { createStore } from '../src/file-token-store.ts'
import { systemError, watched } from './faulty-disk.ts'
import { account, grow, rounds, sample } from './samples.ts'
import { volatileDisk } from './volatile-disk.ts'

const path = '/volatile/tokens'

/** Six saves; before each system call the power goes on a copy of the disk. */
async function findingsOfATrace(random: () => number, breakIt = false): Promise<Finding[]> {
  const disk = volatileDisk(path)
  const findings: Finding[] = []
  let acknowledged = 0
  const look = async (): Promise<void> => {
    const found = disk.afterPowerLoss(random)
    const stands = await createStore(found, { path })
      .read(account)
      .catch(() => 'unreadable' as const)
    findings.push({ acknowledged, stands })
    // And life goes on after it.
    if (!breakIt) await grow(createStore(found, { path }), 1)
  }
  const onTheWay = watched(async (call, proceed) => {
    await look()
    return breakIt && call.name === 'fsync' ? undefined : proceed()
  }, disk)
  for (let version = 0; version < 6; version += 1) {
    // Every third is a sign-in or sign-out, after which nothing older is kept to fall back to.
    const options = { forgetOlder: version % 3 === 2 }
    await createStore(onTheWay, { path }).swap(account, version, sample(version + 1), `write ${version}`, options)
    acknowledged = version + 1
    await look()
  }
  return findings
}

interface Finding {
  readonly acknowledged: number
  readonly stands: Versioned | undefined | 'unreadable'
}

/** Neither lost after its acknowledgement nor anything but what was written. */
function isWhole({ acknowledged, stands }: Finding): boolean {
  if (stands === 'unreadable') return false
  const version = stands?.version ?? 0
  if (version !== acknowledged && version !== acknowledged + 1) return false
  return version === 0 || JSON.stringify(stands?.record) === JSON.stringify(sample(version))
}

describe('a power loss', () => {
  test('at any system call leaves the old record or the new one, whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        async (chances) => {
          const findings = await findingsOfATrace(() => Number(chances.next().value))
          expect(findings.length).toBeGreaterThan(100)
          expect(findings.filter((finding) => !isWhole(finding))).toEqual([])
        },
      ),
      { numRuns: rounds(15, 1000) },
    )
  })

  test('after a sign-out whose process died, and after another process removed the older versions, loses neither', async () => {
    const findings: Finding[] = []
    for (let lastCall = 0, ended = false; !ended; lastCall += 1) {
      const disk = volatileDisk(path)
      await grow(createStore(disk, { path }), 3)
      let calls = 0
      const dying = watched((call, proceed) => {
        calls += 1
        return calls > lastCall ? Promise.reject(systemError('EIO', call.name)) : proceed()
      }, disk)
      const answer = await createStore(dying, { path })
        .swap(account, 3, sample(4), 'four', { forgetOlder: true })
        .catch(() => undefined)
      ended = calls <= lastCall
      const powerless = watched(async (_call, proceed) => {
        for (let loss = 0; loss < 10; loss += 1) {
          const stands = await createStore(disk.afterPowerLoss(Math.random), { path })
            .read(account)
            .catch(() => 'unreadable' as const)
          findings.push({ acknowledged: answer ? 4 : 3, stands })
        }
        return proceed()
      }, disk)
      await createStore(powerless, { path }).read(account)
    }
    expect(findings.length).toBeGreaterThan(1000)
    expect(findings.filter((finding) => !isWhole(finding))).toEqual([])
  })

  test('would lose records if nothing were synced, which this test would see', async () => {
    const findings = await findingsOfATrace(Math.random, true)
    expect(findings.filter((finding) => !isWhole(finding)).length).toBeGreaterThan(10)
  })
})
