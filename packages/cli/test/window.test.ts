import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { installedBrowser, usualPlaces } from '../src/window/installed-browser.ts'

describe('where a browser is looked for', () => {
  it('on Linux: on the PATH and in the usual folders, never in a relative one; Chrome first', () => {
    const places = usualPlaces('linux', { PATH: '/opt/bin:.:relative:' }, '/home/ann')
    const folders = ['/opt/bin', '/usr/local/bin', '/usr/bin', '/bin', '/snap/bin']
    expect(places.slice(0, folders.length)).toEqual(folders.map((folder) => `${folder}/google-chrome`))
    expect(places.every((place) => place.startsWith('/'))).toBe(true)
  })

  it('on macOS: among the applications of all and of the person', () => {
    const path = 'Google Chrome.app/Contents/MacOS/Google Chrome'
    const [first, second] = usualPlaces('darwin', {}, '/Users/ann')
    expect([first, second]).toEqual([`/Applications/${path}`, `/Users/ann/Applications/${path}`])
  })

  it('on Windows: in the folders that Windows names', () => {
    const [programs, local] = [String.raw`C:\Program Files`, String.raw`C:\Users\ann\AppData\Local`]
    const env = { PROGRAMFILES: programs, LOCALAPPDATA: local, 'PROGRAMFILES(X86)': '' }
    const path = String.raw`Google\Chrome\Application\chrome.exe`
    const [first, second] = usualPlaces('win32', env, String.raw`C:\Users\ann`)
    expect([first, second]).toEqual([`${programs}\\${path}`, `${local}\\${path}`])
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
