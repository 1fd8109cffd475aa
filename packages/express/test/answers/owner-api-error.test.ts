/** The proxy's own answers are those of docs/reference/errors.md, each with its status. */
import { readFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { ownerApiErrors } from '../../src/answers/owner-api-error.ts'

it('every answer of the proxy has its row in docs/reference/errors.md, with its status', () => {
  const errors = readFileSync(new URL('../../../../docs/reference/errors.md', import.meta.url), 'utf8')
  const rows = [...errors.matchAll(/^\| `(ERR_OWNER_API_\w+)` +\| (\d{3}) /gmu)]
  const documented = rows.map(([, code = '', status]): [string, number] => [code, Number(status)])
  const given = Object.entries(ownerApiErrors).map(([code, [status]]): [string, number] => [code, status])
  expect(documented).toEqual(expect.arrayContaining(given))
})
