/** `owner-sso setup`, in a real terminal. What it looked like is in test-artefacts/captures. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { credential, type Machine, newMachine } from './machine.ts'
import { capture, controlC, describeInTerminal, enter, inTerminal } from './terminal.ts'

const emulator = useEmulator()
let machine: Machine
const unset = { OWNER_SSO_AUTH_URL: '', OWNER_SSO_REGIONAL_AUTH_URLS: '', OWNER_SSO_API_URL: '' }
const configFile = (): string => join(machine.home, '.config', 'owner-sso', 'config.json')
const config = (): unknown => JSON.parse(readFileSync(configFile(), 'utf8'))

beforeEach(async () => {
  machine = newMachine(emulator)
})
afterEach(() => machine.remove())

describeInTerminal('owner-sso setup', () => {
  it('asks, tries each answer, lets a wrong one be corrected, and writes what a login needs', async () => {
    const terminal = inTerminal(machine, ['setup'], unset)
    await terminal.shows('Address of the SSO service')
    terminal.type(enter)
    await terminal.shows('This can’t be left empty')
    terminal.type(`http://127.0.0.1:1${enter}`)
    await terminal.shows('can’t be reached')
    await terminal.shows('Keep it all the same?')
    terminal.type(enter)
    await terminal.shows('Address of the SSO service')
    terminal.type(`\u0015${emulator.authUrl}${enter}`)
    await terminal.shows('reached')
    await terminal.shows('Other instances')
    terminal.type(`${emulator.regionalAuthUrl}${enter}`)
    await terminal.shows('Address of the owner API')
    terminal.type(`${emulator.ownerApiUrl}${enter}`)
    await terminal.shows('Where tokens live')
    terminal.type(enter)
    await terminal.shows('E-mail of the account')
    terminal.type(`plain@example.com${enter}`)
    await terminal.shows('Your settings are in')
    expect(await terminal.end()).toEqual({ code: 0, restored: true })
    capture('setup', terminal)
    expect(config()).toEqual({
      authUrl: emulator.authUrl,
      regionalAuthUrls: [emulator.regionalAuthUrl],
      apiUrl: emulator.ownerApiUrl,
      account: 'plain@example.com',
    })
    expect(statSync(configFile()).mode & 0o777).toBe(0o600)
    const login = await machine.run(['login'], { env: { ...unset, OWNER_SSO_CREDENTIAL: credential } })
    expect(login.code).toBe(0)
  })

  it('proposes what is set, keeps what it does not ask for, and the former file', async () => {
    const before = { authUrl: emulator.authUrl, account: 'old@example.com', transport: 'modern' }
    mkdirSync(dirname(configFile()), { recursive: true, mode: 0o700 })
    writeFileSync(configFile(), JSON.stringify(before), { mode: 0o600 })
    const terminal = inTerminal(machine, ['setup'], unset)
    for (const question of ['SSO service', 'Other instances', 'owner API', 'Where tokens live']) {
      await terminal.shows(question)
      terminal.type(enter)
    }
    await terminal.shows('E-mail of the account')
    terminal.type(`\u0015new${enter}`)
    await terminal.shows('An e-mail has an @ in it.')
    await terminal.shows('Keep it all the same?')
    terminal.type(enter)
    await terminal.shows('E-mail of the account')
    // An account of the service that has no e-mail.
    terminal.type(`\u0015sub:7${enter}`)
    await terminal.shows('The former ones are in')
    expect((await terminal.end()).code).toBe(0)
    expect(config()).toEqual({ ...before, account: 'sub:7' })
    expect(JSON.parse(readFileSync(`${configFile()}.old`, 'utf8'))).toEqual(before)
  })

  it('writes nothing on Ctrl-C, and asks nobody where nobody is', async () => {
    const terminal = inTerminal(machine, ['setup'], unset)
    await terminal.shows('Address of the SSO service')
    terminal.type(controlC)
    expect(await terminal.end()).toEqual({ code: 130, restored: true })
    expect(config).toThrow('ENOENT')
    const { code, stderr } = await machine.run(['setup'])
    expect(code).toBe(2)
    expect(stderr).toContain('Run it in a terminal')
    const refused = inTerminal(machine, ['setup', '--no-input'])
    expect((await refused.end()).code).toBe(2)
  })
})
