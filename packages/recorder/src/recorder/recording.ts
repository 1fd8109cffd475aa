/**
 * What a recorder writes down: each exchange, masked, in a file that is whole after each of them.
 */
import { format } from '../fixture/fixture-checks.ts'
import { writeFixture, type Fixture, type RecordedExchange } from '../fixture/fixture.ts'
import { maskRequest, maskResponse, type SeenRequest, type SeenResponse } from '../masking/exchange-mask.ts'
import type { Masking } from '../masking/masking.ts'
import { createPseudonyms } from '../masking/pseudonyms.ts'

export interface Recording {
  readonly fixture: () => Fixture
  /** Resolves when the exchange is written: its client is answered then. Without an answer, `how` it ended. */
  readonly keep: (request: SeenRequest, answer: SeenResponse | undefined, how: 'cut' | 'none') => Promise<void>
}

/** Enough for any login; a poller left running does not fill the disk. */
const maxExchanges = 1000

/** @param file where it goes; without one it is in memory alone */
export function createRecording(
  addresses: Masking['addresses'],
  file: string | undefined,
  tell: (line: string) => void,
): Recording {
  const pseudonyms = createPseudonyms()
  const exchanges: RecordedExchange[] = []
  let written: Promise<void> = Promise.resolve()
  const fixture = (): Fixture => ({ format, version: 1, placeholders: { ...pseudonyms.shapes() }, exchanges })

  return {
    fixture,
    async keep(seen, answer, how) {
      if (exchanges.length >= maxExchanges) {
        tell(`passed on, but no longer recorded: a recording has at most ${maxExchanges} exchanges`)
        return
      }
      const request = maskRequest({ pseudonyms, from: 'client', addresses }, seen)
      const recorded = answer && maskResponse({ pseudonyms, from: 'service', addresses }, answer)
      exchanges.push({ request, answer: recorded ?? how })
      tell(`${request.method} ${request.path} → ${String(recorded?.status ?? how)}`)
      if (file === undefined) return
      // One that failed leaves the next its turn: that has all exchanges in it.
      written = written.catch(() => undefined).then(() => writeFixture(file, fixture()))
      await written
    },
  }
}
