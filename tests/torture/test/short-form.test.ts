/** `npm run torture` in its short form: ours alone, and faults after which nothing may be lost. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { describeWithPostgres } from '../../support/postgres-server.ts'
import { describeWithPrograms } from '../../support/programs.ts'

const torture = fileURLToPath(new URL('../../../bench/torture/run.mjs', import.meta.url))
const cells = '^owner-sso.*(killed before|dead processes|refusal of the owner API).*in use$'

describeWithPostgres('with PostgreSQL', () => {
  describeWithPrograms('redis-server')('eight processes and one account', () => {
    it('lose nothing in any store when one or all are killed, or the owner API refuses a token', () => {
      const { stdout, stderr } = spawnSync(process.execPath, [torture, '--only', cells], { encoding: 'utf8' })
      const rows = stdout.match(/: verdict kept, .* replays 0, .* failed 0 of /gu) ?? []
      expect({ rows: rows.length, stdout, stderr }).toEqual({ rows: 12, stdout: expect.any(String), stderr: '' })
    }, 300_000)
  })
})
