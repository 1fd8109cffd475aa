/** An application that throws where nobody catches it: in its reply to an outcome, and once more in its reply to that. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

it.each([
  ['throws an error', `new Error('CANARY-words\\n  more CANARY-words')`, /^at .*:\d+:\d+/u],
  ['throws what is no error', `'CANARY-words'`, /^$/u],
  [
    'throws an error that can’t be looked at',
    `Object.defineProperty(new Error('CANARY'), 'stack', { get() { throw new Error('CANARY') } })`,
    /^$/u,
  ],
])(
  'that %s gets a warning with the place, without its words, and the process goes on',
  async (_what, thrown, place) => {
    const program = `
    import { Passport } from 'passport'
    import { OwnerSsoStrategy } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
    const told = new Promise((resolve) => process.on('warning', ({ name, code, message, detail }) => resolve({ name, code, message, detail })))
    const strategy = new OwnerSsoStrategy({ authUrl: 'http://127.0.0.1:9' })
    const passport = new Passport()
    let calls = 0
    const reply = function reply() {
      calls += 1
      throw ${thrown}
    }
    passport.authenticate(strategy, reply)({ method: 'POST', headers: {}, body: {} }, {}, () => undefined)
    const warning = await told
    console.log(JSON.stringify({ calls, warning }))
    process.exit(0)`
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    })
    expect(JSON.parse(stdout)).toMatchObject({
      calls: 2,
      warning: { name: 'OwnerSsoWarning', code: 'OWNER_SSO_CALLBACK' },
    })
    expect(stdout + stderr).not.toContain('CANARY')
    expect(JSON.parse(stdout).warning.detail ?? '').toMatch(place)
  },
)
