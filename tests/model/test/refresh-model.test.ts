/** The model of the refresh protocol: explored whole, it does no harm. */
import { expect, it } from '@jest/globals'
import { describeWithSpin, verifierOf } from './spin.ts'
import { worlds, worldsWithoutCycles } from './worlds.ts'

const patience = 300_000

describeWithSpin('the model of the refresh protocol, explored whole', () => {
  it.each(worlds)(
    'does no harm with $title',
    async ({ of }) => {
      using verifier = await verifierOf('refresh.pml', { world: of })
      expect(await verifier.explore()).toMatchObject({ found: undefined, whole: true })
    },
    patience,
  )

  it.each(worldsWithoutCycles)(
    'never goes round in a circle with $title',
    async ({ of }) => {
      using verifier = await verifierOf('refresh.pml', { world: of, cc: ['-DNP'] })
      expect(await verifier.explore()).toMatchObject({ found: undefined, whole: true })
    },
    patience,
  )
})
