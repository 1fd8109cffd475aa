import { describe, expect, it } from '@jest/globals'
import { request } from 'node:http'
import { once } from 'node:events'
import type { ExchangeLine } from '../../src/inspector/inspector-router.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client } from '../client.ts'
import { inspectedAccounts, loginOverRegion } from './inspector-page.ts'

const emulator = useEmulator({ accounts: inspectedAccounts })

interface Event {
  readonly event: string
  readonly data: unknown
}

/** The stream's events and its whole text, until `enough` of them came. */
async function listen(
  enough: (events: readonly Event[]) => boolean,
  meanwhile?: () => Promise<unknown>,
): Promise<{ readonly events: readonly Event[]; readonly text: string }> {
  const [answer] = await once(request(`${emulator.authUrl}/_emulator/events`).end(), 'response')
  expect(answer.headers['content-type']).toBe('text/event-stream')
  const asked = meanwhile?.()
  let text = ''
  for await (const chunk of answer) {
    text += String(chunk)
    if (enough(eventsIn(text))) break
  }
  await asked
  return { events: eventsIn(text), text }
}

function eventsIn(text: string): Event[] {
  return [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/gu)].map(([, event = '', data = 'null']) => ({
    event,
    data: JSON.parse(data),
  }))
}

function linesIn(events: readonly Event[]): readonly ExchangeLine[] {
  return events.filter(({ event }) => event === 'exchange').flatMap(({ data }) => data as readonly ExchangeLine[])
}

function hasAnswered(decision: string): (events: readonly Event[]) => boolean {
  return (events) => linesIn(events).some((line) => line.decision === decision && line.duration !== undefined)
}

describe('the events of the inspector', () => {
  it('tell what happened before, and what happens now, without secrets', async () => {
    const { secrets } = await loginOverRegion(emulator, 'regional@example.com')
    emulator.clock.advance(30)
    let more: ReadonlySet<string> = new Set()
    const { events, text } = await listen(hasAnswered('the login page again: We could not sign you in'), async () => {
      more = (await loginOverRegion(emulator, 'regional@example.com')).secrets
      await new Client(emulator).authorize('plain@example.com', 'mistyped credential')
    })
    expect(new Set(linesIn(events).map(({ flow }) => flow)).size).toBe(3)
    const all = [...secrets, ...more, 'mistyped credential']
    expect(all.filter((secret) => secret === '' || text.includes(secret))).toEqual([])
    expect(events[0]?.event).toBe('reset')
  })

  it('say that everything was forgotten', async () => {
    await new Client(emulator).open()
    const { events } = await listen(
      (seen) => seen.filter(({ event }) => event === 'reset').length === 2,
      async () => {
        await new Promise(setImmediate)
        emulator.reset()
      },
    )
    expect(events.at(-1)?.event).toBe('reset')
  })

  it('come in batches: 150 requests are fewer than 75 events', async () => {
    const { events } = await listen(
      (seen) => new Set(linesIn(seen).flatMap(({ id, status }) => (status === 404 ? [id] : []))).size === 150,
      async () => {
        for (let sent = 0; sent < 150; sent += 1) await fetch(`${emulator.authUrl}/nowhere`)
      },
    )
    expect(events.filter(({ event }) => event === 'exchange').length).toBeLessThan(75)
  })
})
