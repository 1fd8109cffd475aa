/**
 * The emulator's control API, as this page calls it.
 */
import type { ExchangeDetail } from '../src/inspector/exchange-view.ts'
import type { ExchangeSecrets } from '../src/journal/recording.ts'

/** What `/_emulator` answered instead. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

/** @throws {Refusal} The emulator did not do it, and says why. */
async function call<Shape>(method: 'GET' | 'POST', path: string): Promise<Shape> {
  const answer = await fetch(`/_emulator/${path}`, { method })
  const json: Shape & { readonly error_description?: string } = await answer.json()
  if (!answer.ok) throw new Refusal(json.error_description ?? `The emulator answered ${answer.status}`)
  return json
}

export function exchangeDetail(id: number): Promise<ExchangeDetail> {
  return call('GET', `exchanges/${id}`)
}

export function exchangeSecrets(id: number): Promise<ExchangeSecrets> {
  return call('POST', `exchanges/${id}/secrets`)
}
