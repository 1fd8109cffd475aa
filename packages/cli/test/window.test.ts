import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, describe, expect, it } from '@jest/globals'
import { createSso } from '@owner-sso/core'
import fc from 'fast-check'
import { anyText } from '../../../tests/support/any-text.ts'
import { type DebuggingPipe, openDebuggingPipe } from '../src/window/debugging-pipe.ts'
import { watchForCallback, type StoppedPage } from '../src/window/callback-watch.ts'
import { installedBrowser, usualPlaces } from '../src/window/installed-browser.ts'

describe('where a browser is looked for', () => {
  it('on Linux: on the PATH and in the usual folders, never in a relative one; Chrome first', () => {
    const places = usualPlaces('linux', { PATH: '/opt/bin:.:relative:' }, '/home/ann')
    const folders = ['/opt/bin', '/usr/local/bin', '/usr/bin', '/bin', '/snap/bin']
    const programs = [
      'google-chrome',
      'google-chrome-stable',
      'chromium',
      'chromium-browser',
      'microsoft-edge',
      'microsoft-edge-stable',
      'brave-browser',
      'brave-browser-stable',
      'brave',
    ]
    expect(places).toEqual(programs.flatMap((program) => folders.map((folder) => `${folder}/${program}`)))
  })

  it('on macOS: among the applications of all and of the person', () => {
    const names = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser']
    expect(usualPlaces('darwin', {}, '/Users/ann')).toEqual(
      names.flatMap((name) =>
        ['/Applications', '/Users/ann/Applications'].map((folder) => `${folder}/${name}.app/Contents/MacOS/${name}`),
      ),
    )
  })

  it('on Windows: in the folders that Windows names', () => {
    const env = {
      PROGRAMFILES: String.raw`C:\Program Files`,
      LOCALAPPDATA: String.raw`C:\Users\ann\AppData\Local`,
      'PROGRAMFILES(X86)': '',
    }
    const programs = [
      String.raw`Google\Chrome\Application\chrome.exe`,
      String.raw`Chromium\Application\chrome.exe`,
      String.raw`Microsoft\Edge\Application\msedge.exe`,
      String.raw`BraveSoftware\Brave-Browser\Application\brave.exe`,
    ]
    expect(usualPlaces('win32', env, String.raw`C:\Users\ann`)).toEqual(
      programs.flatMap((program) => [env.PROGRAMFILES, env.LOCALAPPDATA].map((folder) => `${folder}\\${program}`)),
    )
    const x86 = usualPlaces('win32', { 'PROGRAMFILES(X86)': String.raw`C:\x86` }, String.raw`C:\Users\ann`)
    expect(x86).toEqual(programs.map((program) => String.raw`C:\x86` + `\\${program}`))
  })
})

describe('the browser that OWNER_SSO_BROWSER names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-browser-test-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const program = join(folder, 'my-browser')
  writeFileSync(program, '', { mode: 0o700 })
  writeFileSync(join(folder, 'no-program'), '', { mode: 0o600 })
  const named = (OWNER_SSO_BROWSER: string): string | undefined =>
    installedBrowser({ PATH: `relative:${folder}`, OWNER_SSO_BROWSER })

  it('is a path, or a name of the PATH', () => {
    expect([named(program), named('my-browser')]).toEqual([program, program])
  })

  it.each(['another-browser', 'no-program', folder, join(folder, 'no-program'), join(folder, 'nowhere')])(
    '%s is none: it says what to do',
    (name) => expect(() => named(name)).toThrow('The browser that OWNER_SSO_BROWSER names is not there.'),
  )

  it('may be missing: then one is looked for in the usual places', () => {
    const chrome = join(folder, 'google-chrome')
    writeFileSync(chrome, '', { mode: 0o700 })
    expect(installedBrowser({ PATH: folder })).toBe(chrome)
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

  it('takes what goes wrong with its answers for the end of the browser', async () => {
    const { pipe, answers } = opened()
    const waiting = pipe.call('One.call')
    answers.destroy(new Error('ECONNRESET'))
    await expect(waiting).rejects.toThrow('gone')
    await pipe.ended
  })

  it('gives up on a browser by closing its answers', async () => {
    const { pipe, answers } = opened()
    const waiting = pipe.call('One.call')
    pipe.giveUp()
    await expect(waiting).rejects.toThrow('gone')
    expect(answers.destroyed).toBe(true)
  })
})

describe('the watch for the redirect address', () => {
  /** What a browser is told, and what it tells. */
  async function watched(redirectUri: string, count = 2) {
    const [commands, answers] = [new PassThrough(), new PassThrough()]
    const stopped: StoppedPage[] = []
    const told = (): unknown[] =>
      String(commands.read() ?? '')
        .split('\0')
        .filter(Boolean)
        .map((text) => {
          const { id, ...command } = JSON.parse(text)
          answers.write(`${JSON.stringify({ id, result: {} })}\0`)
          return command
        })
    const heard = (method: string, params: object): void =>
      void answers.write(`${JSON.stringify({ method, params })}\0`)
    const { request } = createSso({ authUrl: 'https://auth.example.com', redirectUri }).createAuthorizationUrl()
    const ready = watchForCallback(openDebuggingPipe(commands, answers), request, (page) => stopped.push(page))
    let isReady = false
    void ready.then(() => (isReady = true))
    await new Promise(setImmediate)
    const first = told()
    // Each thing that is asked for is waited for: pages are opened next.
    expect([first.length, isReady]).toEqual([1, false])
    await new Promise(setImmediate)
    expect(isReady).toBe(count === 1)
    const second = told()
    await ready
    return { asked: [...first, ...second], heard, told, stopped }
  }
  const paused = (url: string, location?: string): object => ({
    requestId: 'one',
    request: { url },
    ...(location !== undefined && { responseHeaders: [{ name: 'Location', value: location }] }),
  })

  it('sees nothing but requests to a web address', async () => {
    const { asked, heard, told, stopped } = await watched('https://auth.example.com/void/callback', 1)
    const patterns = [{ urlPattern: 'https://auth.example.com/void/callback*', requestStage: 'Request' }]
    expect(asked).toEqual([{ method: 'Fetch.enable', params: { patterns } }])
    heard('Fetch.requestPaused', paused('https://auth.example.com/void/callbacks'))
    await new Promise(setImmediate)
    expect(told()).toEqual([{ method: 'Fetch.continueRequest', params: { requestId: 'one' } }])
    heard('Fetch.requestPaused', paused('https://auth.example.com/void/callback?code=a'))
    await new Promise(setImmediate)
    expect(stopped.map(({ address }) => address)).toEqual(['https://auth.example.com/void/callback?code=a'])
    void stopped[0]?.show('<p>ä')
    const responseHeaders = [
      { name: 'content-type', value: 'text/html; charset=utf-8' },
      { name: 'content-security-policy', value: "default-src 'none'; style-src 'unsafe-inline'" },
    ]
    const body = Buffer.from('<p>ä').toString('base64')
    expect(told()).toEqual([
      { method: 'Fetch.fulfillRequest', params: { requestId: 'one', responseCode: 200, responseHeaders, body } },
    ])
  })

  it('sees where pages are sent for an address of an app’s own scheme, in every tab and in no worker', async () => {
    const { asked, heard, told, stopped } = await watched('owner-app://callback')
    expect(asked).toEqual([
      {
        method: 'Fetch.enable',
        params: { patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Response' }] },
      },
      {
        method: 'Target.setAutoAttach',
        params: { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter: [{ type: 'page' }] },
      },
    ])
    heard('Target.attachedToTarget', { sessionId: 'a tab' })
    await new Promise(setImmediate)
    expect(told()).toEqual([
      { method: 'Page.enable', params: {}, sessionId: 'a tab' },
      { method: 'Runtime.runIfWaitingForDebugger', params: {}, sessionId: 'a tab' },
    ])
    heard('Fetch.requestPaused', paused('https://auth.example.com/login', 'owner-app://callback?code=a'))
    heard('Fetch.requestPaused', paused('https://auth.example.com/login', '/elsewhere'))
    heard('Page.frameRequestedNavigation', { url: 'owner-app://callback?code=b' })
    heard('Page.frameRequestedNavigation', { url: 'https://auth.example.com/' })
    await new Promise(setImmediate)
    expect(stopped.map(({ address }) => address)).toEqual([
      'owner-app://callback?code=a',
      'owner-app://callback?code=b',
    ])
    expect(told()).toEqual([{ method: 'Fetch.continueRequest', params: { requestId: 'one' } }])
  })
})
