/** The part of the matrix that takes under a minute: a row of each kind, on the Node at hand. */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { openWorkshop } from '../project.mjs'
import { groups } from '../run-rows.mjs'

let workshop: ReturnType<typeof openWorkshop>
beforeAll(() => {
  workshop = openWorkshop({ nodeAtHand: true })
})
afterAll(() => workshop.remove())

const slice = groups.flatMap((group) =>
  group.rows
    .filter((row) => 'slice' in row && row.slice)
    .map((row) => ({ title: `${group.title}: ${row.name.replace(/, Node .*/u, '')}`, group, row })),
)

it.each(slice)('$title', async ({ group, row }) => {
  await expect(row.run(await group.prepare(workshop), workshop)).resolves.toBeUndefined()
})

it('has a row of each kind that a change of ours breaks most easily', () => {
  expect(slice.map(({ title }) => title.split(':')[0])).toEqual([
    'Test runners',
    'Frameworks',
    'Bundlers',
    'TypeScript',
  ])
})
