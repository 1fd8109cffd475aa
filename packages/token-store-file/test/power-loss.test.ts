/** B-B B5: whenever the power goes, and whatever of the unsynced data is lost: the old record or the new one. */
import { describe, expect, test } from '@jest/globals'
import type { Versioned } from '@owner-sso/core'
import * as fc from 'fast-check'
import { storeOn } from '../src/file-token-store.ts'
import { watched } from './faulty-disk.ts'
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
    const stands = await storeOn(found, { path })
      .read(account)
      .catch(() => 'unreadable' as const)
    findings.push({ acknowledged, stands })
    // And life goes on after it.
    if (!breakIt) await grow(storeOn(found, { path }), 1)
  }
  const onTheWay = watched(async (call, proceed) => {
    await look()
    return breakIt && call.name === 'fsync' ? undefined : proceed()
  }, disk)
  for (let version = 0; version < 6; version += 1) {
    await storeOn(onTheWay, { path }).swap(account, version, sample(version + 1), `write ${version}`)
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
      { numRuns: rounds(40, 1000) },
    )
  })

  test('would lose records if nothing were synced: the test can tell', async () => {
    const findings = await findingsOfATrace(Math.random, true)
    expect(findings.filter((finding) => !isWhole(finding)).length).toBeGreaterThan(10)
  })
})
