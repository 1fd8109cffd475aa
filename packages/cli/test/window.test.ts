import { PassThrough } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { anyText } from '../../../tests/support/any-text.ts'
import { type DebuggingPipe, openDebuggingPipe } from '../src/window/debugging-pipe.ts'
import { usualPlaces } from '../src/window/installed-browser.ts'

describe('where a browser is looked for', () => {
  it('on Linux: on the PATH and in the usual folders, never in a relative one; Chrome first', () => {
    const places = usualPlaces('linux', { PATH: '/opt/bin:.:relative:' }, '/home/ann')
    expect(places[0]).toBe('/opt/bin/google-chrome')
    for (const program of ['chromium', 'microsoft-edge', 'brave-browser']) {
      expect(places).toContain(`/opt/bin/${program}`)
      expect(places).toContain(`/usr/bin/${program}`)
    }
    expect(places.filter((place) => !place.startsWith('/'))).toEqual([])
  })

  it('on macOS: among the applications of all and of the person', () => {
    const places = usualPlaces('darwin', {}, '/Users/ann')
    expect(places).toContain('/Applications/Google Chrome.app/Contents/MacOS/Google Chrome')
    expect(places).toContain('/Users/ann/Applications/Chromium.app/Contents/MacOS/Chromium')
    expect(places).toContain('/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge')
    expect(places).toContain('/Applications/Brave Browser.app/Contents/MacOS/Brave Browser')
  })

  it('on Windows: in the folders that Windows names', () => {
    const env = {
      PROGRAMFILES: String.raw`C:\Program Files`,
      LOCALAPPDATA: String.raw`C:\Users\ann\AppData\Local`,
      'PROGRAMFILES(X86)': '',
    }
    const places = usualPlaces('win32', env, String.raw`C:\Users\ann`)
    expect(places).toContain(String.raw`C:\Program Files\Google\Chrome\Application\chrome.exe`)
    expect(places).toContain(String.raw`C:\Users\ann\AppData\Local\Chromium\Application\chrome.exe`)
    expect(places).toContain(String.raw`C:\Program Files\Microsoft\Edge\Application\msedge.exe`)
    expect(places).toContain(String.raw`C:\Program Files\BraveSoftware\Brave-Browser\Application\brave.exe`)
    expect(places.every((place) => place.startsWith('C:'))).toBe(true)
  })
})

describe('the debugging pipe', () => {
  function opened(): { pipe: DebuggingPipe; commands: PassThrough; answers: PassThrough } {
    const [commands, answers] = [new PassThrough(), new PassThrough()]
    return { pipe: openDebuggingPipe(commands, answers), commands, answers }
  }

  it('reads every message whole, however it is cut into chunks', async () => {
    const cuts = fc.array(fc.nat(), { maxLength: 20 })
    const urls = fc.array(anyText(), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(urls, cuts, async (sent, places) => {
        const { pipe, answers } = opened()
        const received: string[] = []
        pipe.on('Page.frameRequestedNavigation', ({ url }) => received.push(url))
        const message = (url: string): string =>
          `${JSON.stringify({ method: 'Page.frameRequestedNavigation', params: { url } })}\0`
        const bytes = Buffer.from(sent.map(message).join(''))
        const ends = places.map((place) => place % (bytes.byteLength + 1)).toSorted((one, other) => one - other)
        for (const [index, end] of [...ends, bytes.byteLength].entries())
          answers.write(bytes.subarray(ends[index - 1] ?? 0, end))
        answers.end()
        await pipe.ended
        expect(received).toEqual(sent)
      }),
      { numRuns: 50 },
    )
  })

  it('gives each call its own answer, and a refusal as an error', async () => {
    const { pipe, commands, answers } = opened()
    const [one, other] = [pipe.call('One.call', { deep: [1] }), pipe.call('Other.call', {}, 'page')]
    expect(String(commands.read())).toBe(
      '{"id":1,"method":"One.call","params":{"deep":[1]}}\0{"id":2,"method":"Other.call","params":{},"sessionId":"page"}\0',
    )
    answers.write(
      '{"id":2,"error":{"message":"no such page"}}\0{"method":"Unknown.event","params":{}}\0{"id":1,"result":{}}\0',
    )
    await expect(other).rejects.toThrow('no such page')
    await expect(one).resolves.toBeUndefined()
  })

  it('fails every call once the browser is gone, those that wait included', async () => {
    const { pipe, commands, answers } = opened()
    const waiting = pipe.call('One.call')
    commands.destroy(new Error('EPIPE'))
    answers.end()
    answers.resume()
    await expect(waiting).rejects.toThrow('gone')
    await pipe.ended
    await expect(pipe.call('Other.call')).rejects.toThrow('gone')
  })
})
