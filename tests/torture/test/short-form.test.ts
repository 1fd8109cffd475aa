/** `npm run torture` in its short form: ours alone, and faults after which nothing may be lost. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { describeWithPrograms } from '../../support/programs.ts'

const torture = fileURLToPath(new URL('../../../bench/torture/run.mjs', import.meta.url))

describeWithPrograms('redis-server', 'prlimit')('eight processes and one account', () => {
  it.each(['killed before the request', 'a lock left by a dead machine', 'a refusal of the owner API'])(
    'lose nothing in a file, Redis, PostgreSQL and SQLite: %s',
    (fault) => {
      const cells = `^owner-sso.*${fault}.*in use$`
      const { stdout, stderr } = spawnSync(process.execPath, [torture, '--only', cells], { encoding: 'utf8' })
      const rows = stdout
        .trim()
        .split('\n')
        .map((row) => row.split(' | '))
      const played = rows.map(([name, , , verdict, figures]) => ({
        name,
        verdict,
        replays: /replays (\d+)/u.exec(figures ?? '')?.[1],
      }))
      expect({ played: played.toSorted(byName), stderr }).toEqual({
        played: ['file', 'PostgreSQL', 'Redis', 'SQLite'].map((store) => ({
          name: `owner-sso, ${store}`,
          verdict: 'kept',
          replays: '0',
        })),
        stderr: '',
      })
    },
  )
})
