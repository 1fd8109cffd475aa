/** What a recording shows of a field, the emulator's log shows as well, and neither shows a field that is on no list. */
import { describe, expect, it } from '@jest/globals'
import { plainFields } from '../../src/support/plain-fields.ts'
import { startRecorder } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'

const emulator = useEmulator()
const secretNames = [
  ['credential', 'password', 'passcode', 'code', 'code_verifier', '_csrf', 'transaction_id', 'backup_code'],
  ['access_token', 'refresh_token', 'id_token', 'captcha', 'totp_secret', 'api_key', 'session', 'anything', 'vin'],
].flat()
const ofClient = { fixed: plainFields.fixedByClient, own: plainFields.ownOfClient }
const ofService = {
  shown: [...plainFields.fixedByService, ...plainFields.sentences],
  own: plainFields.ownOfService,
}
/** A word that recordings know: what masks it, does so for the field's name. */
const word = 'authenticate'
const named = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, word]))

describe.each<[string, Record<string, string>, Record<string, string>]>([
  ['fields that are fixed, or sentences', named(ofClient.fixed), named(ofService.shown)],
  ['what is the client’s own', named(ofClient.own), named(ofService.own)],
  ['secrets, and fields that nobody knows', named(secretNames), named(secretNames)],
])('%s', (kind, request, answer) => {
  it('are shown or masked alike', async () => {
    emulator.always('token', { status: 200, body: answer })
    await using recorder = await startRecorder({ upstream: emulator.authUrl })
    await fetch(`${recorder.authUrl}/oauth2/v3/token?${new URLSearchParams(request).toString()}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    const exchange = recorder.fixture.exchanges[0]
    const recorded = [exchange?.request.query, exchange?.request.json, Object(exchange?.answer)['json']]
    const { query, body } = emulator.requests[0] ?? {}
    const logged = [query, body, await loggedAnswer()]

    const isLogged = !kind.startsWith('secrets')
    const isRecorded = kind.startsWith('fields')
    for (const [index, fields] of [request, request, answer].entries()) {
      const names = Object.keys(fields)
      expect(logged[index]).toEqual(
        isLogged ? named(names) : Object.fromEntries(names.map((name) => [name, '[masked]'])),
      )
      expect(Object.entries(Object(recorded[index])).filter(([, value]) => value === word)).toEqual(
        isRecorded ? Object.entries(fields) : [],
      )
    }
  })
})

async function loggedAnswer(): Promise<unknown> {
  const { exchanges } = await json(`${emulator.authUrl}/_emulator/exchanges`)
  const { answer } = await json(`${emulator.authUrl}/_emulator/exchanges/${String(exchanges?.at(-1)?.id)}`)
  return answer?.body
}

async function json(url: string): Promise<{ exchanges?: { id: number }[]; answer?: { body: unknown } }> {
  return JSON.parse(await (await fetch(url)).text())
}
