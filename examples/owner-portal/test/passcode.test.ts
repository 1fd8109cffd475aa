/** The second step of a sign-in. */
import { describe, expect, it } from '@jest/globals'
import { credential, passcode, type PortalUnderTest, startPortal } from './portal-under-test.ts'
import type { Page, Visitor } from './visitor.ts'

const mfa = { identity: 'mfa@example.com', credential }

async function atPasscode(portal: PortalUnderTest): Promise<{ me: Visitor; page: Page }> {
  const me = portal.visitor()
  const answer = await me.send(await me.open('/sign-in'), '/sign-in', mfa)
  expect([answer.status, answer.location]).toEqual([303, '/sign-in/passcode'])
  return { me, page: await me.follow(answer) }
}

function wrong(right: string): string {
  return String((Number(right) + 500_000) % 1_000_000).padStart(6, '0')
}

describe('the passcode step', () => {
  it.each(['code-exchange', 'form-submission'] as const)(
    'takes the passcode of the chosen device, with the passcode page at the %s',
    async (mfaAt) => {
      const portal = await startPortal({ emulator: { mfaAt } })
      const { me, page } = await atPasscode(portal)
      expect(page.text).toContain('mfa@example.com')
      expect(page.text).toMatch(/Device #1.*Tablet/u)
      const tablet = /value="([^"]+)"[^>]*>\s*Tablet/u.exec(page.html)?.[1] ?? ''
      const code = passcode(portal.emulator, 'Tablet')
      const answer = await me.send(page, '/sign-in/passcode', {
        factor: tablet,
        passcode: `${code.slice(0, 3)}-${code.slice(3)}`.replaceAll(/\d/gu, (digit) =>
          '٠١٢٣٤٥٦٧٨٩'.charAt(Number(digit)),
        ),
      })
      expect([answer.status, answer.location]).toEqual([303, '/'])
      expect((await me.follow(answer)).text).toContain('Daily')
    },
  )

  it('signs in also where the passcode is submitted twice, and the browser shows the second answer', async () => {
    const portal = await startPortal()
    const { me, page } = await atPasscode(portal)
    const fields = { passcode: passcode(portal.emulator) }
    const both = await Promise.all([
      me.send(page, '/sign-in/passcode', fields),
      me.send(page, '/sign-in/passcode', fields),
    ])
    expect(both.map(({ location }) => location)).toEqual(['/', '/'])
    expect(portal.emulator.counters.passcodeChecks).toBe(1)
    expect((await me.open('/')).text).toContain('mfa@example.com')
  })

  it('lets a wrong passcode be corrected without the password', async () => {
    const portal = await startPortal()
    const { me, page } = await atPasscode(portal)
    const right = passcode(portal.emulator)
    const again = await me.send(page, '/sign-in/passcode', { passcode: wrong(right) })
    expect(again.status).toBe(401)
    expect(again.text).toContain('did not accept this passcode')
    expect(again.text).toContain('4 tries are left')
    expect(again.html).not.toContain(wrong(right))
    const answer = await me.send(again, '/sign-in/passcode', { passcode: right })
    expect(answer.location).toBe('/')
    // The form is posted again, as documented, but no login begun again.
    expect(portal.emulator.counters.loginPages).toBe(1)
  })

  it('keeps the choice of device after a mistake', async () => {
    const portal = await startPortal()
    const { me, page } = await atPasscode(portal)
    const tablet = /value="([^"]+)"[^>]*>\s*Tablet/u.exec(page.html)?.[1] ?? ''
    const again = await me.send(page, '/sign-in/passcode', { factor: tablet, passcode: '12' })
    expect(again.status).toBe(422)
    expect(again.fields('/sign-in/passcode')['factor']).toBe(tablet)
    expect(again.text).toContain('Enter the six digits')
    expect(portal.emulator.counters.passcodeChecks).toBe(0)
  })

  it('takes a backup code', async () => {
    const portal = await startPortal()
    const { me, page } = await atPasscode(portal)
    const missing = await me.post('/sign-in/passcode', {
      _csrf: page.fields('/sign-in/passcode')['_csrf'] ?? '',
      backupCode: ' ',
    })
    expect(missing.status).toBe(422)
    const token = page.fields('/sign-in/passcode')['_csrf'] ?? ''
    const answer = await me.post('/sign-in/passcode', { _csrf: token, backupCode: 'BACKUP001' })
    expect(answer.location).toBe('/')
  })

  it('ends after five wrong passcodes: the password is asked for again (S60)', async () => {
    const portal = await startPortal()
    const { me, page } = await atPasscode(portal)
    const statuses: number[] = []
    let last = page
    for (let attempt = 0; attempt < 5; attempt += 1) {
      last = await me.send(last, '/sign-in/passcode', { passcode: wrong(passcode(portal.emulator)) })
      statuses.push(last.status)
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401])
    expect(last.text).toContain('Too many wrong passcodes')
    expect(last.fields('/sign-in')['identity']).toBe('mfa@example.com')
    const token = last.fields('/sign-in')['_csrf'] ?? ''
    const sixth = await me.post('/sign-in/passcode', { _csrf: token, passcode: passcode(portal.emulator) })
    expect(sixth.status).toBe(401)
    expect(sixth.text).toContain('This sign-in has expired')
    expect(portal.emulator.counters.passcodeChecks).toBeLessThanOrEqual(5)
  })

  it('reads a flat form: a bracket in a name nests nothing (S59)', async () => {
    const portal = await startPortal()
    const { me, page } = await atPasscode(portal)
    const token = page.fields('/sign-in/passcode')['_csrf'] ?? ''
    const answer = await me.post('/sign-in/passcode', `_csrf=${token}&passcode=12&backupCode[x]=BACKUP001`)
    expect(answer.text).toContain('Enter the six digits')
  })

  it('can be given up', async () => {
    const portal = await startPortal()
    const { me, page } = await atPasscode(portal)
    const left = await me.send(page, '/sign-in/start-over')
    expect(left.location).toBe('/sign-in')
    expect((await me.open('/sign-in/passcode')).location).toBe('/sign-in')
  })

  it('belongs to its session: a stranger finds nothing', async () => {
    const portal = await startPortal()
    await atPasscode(portal)
    const stranger = portal.visitor()
    expect((await stranger.open('/sign-in/passcode')).location).toBe('/sign-in')
    const token = (await stranger.open('/sign-in')).fields('/sign-in')['_csrf'] ?? ''
    const answer = await stranger.post('/sign-in/passcode', { _csrf: token, passcode: passcode(portal.emulator) })
    expect(answer.status).toBe(401)
    expect(portal.emulator.counters.passcodeChecks).toBe(0)
  })

  it('is kept when the service does not answer, and can be finished afterwards', async () => {
    const portal = await startPortal({ sso: { timeout: 500 } })
    const { me, page } = await atPasscode(portal)
    portal.emulator.once('mfa-verify', { hold: new Promise(() => undefined), commit: 'before' })
    const late = await me.send(page, '/sign-in/passcode', { passcode: passcode(portal.emulator) })
    expect(late.status).toBe(504)
    const answer = await me.send(late, '/sign-in/passcode', { passcode: passcode(portal.emulator) })
    expect(answer.location).toBe('/')
  })
})
