/** The part of the matrix that takes under a minute: a row of each kind, on the Node at hand. */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { openWorkshop } from '../project.mjs'
import { groups } from '../run-rows.mjs'

const slice = groups.flatMap((group) =>
  group.rows
    .filter((row) => 'slice' in row && row.slice)
    .map((row) => ({ title: `${group.title}: ${row.name.replace(/, Node .*/u, '')}`, group, row })),
)

let workshop: ReturnType<typeof openWorkshop>
const prepared = new Map<unknown, Promise<unknown>>()
beforeAll(() => {
  workshop = openWorkshop({ quick: true })
  // All at once: npm waits for the network and the disk more than it works. A failure is told by the row that needs it.
  for (const { group } of slice) {
    const wanted = slice.filter((one) => one.group === group).map(({ row }) => row.name)
    prepared.set(group, Promise.resolve(group.prepare(workshop, wanted)))
  }
  for (const each of prepared.values()) each.catch(() => undefined)
})
afterAll(() => workshop.remove())

it.each(slice)('$title', async ({ group, row }) => {
  await expect(row.run(await prepared.get(group), workshop)).resolves.toBeUndefined()
})

it('the slice that npm test runs has a row of each kind that a change breaks most easily', () => {
  expect(slice.map(({ title }) => title.split(':')[0])).toEqual([
    'Test runners',
    'Frameworks',
    'Bundlers',
    'TypeScript',
  ])
})
