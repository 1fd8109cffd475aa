/** Deliberate faults in the model of the refresh protocol: SPIN finds each, with a trace that shows how. */
import { expect, it } from '@jest/globals'
import { describeWithSpin, verifierOf } from './spin.ts'
import { faults } from './worlds.ts'

const patience = 300_000

describeWithSpin('a fault in the model is found', () => {
  it.each(faults)(
    '$title',
    async ({ of, harm }) => {
      using verifier = await verifierOf('refresh.pml', { world: of, cc: ['-DSAFETY', '-DBFS'] })
      expect(await verifier.explore()).toMatchObject({ found: harm, hasTrail: true })
    },
    patience,
  )
})
