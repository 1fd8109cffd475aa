import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
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
