/** `owner-sso setup`, in a real terminal. What it looked like is in test-artefacts/captures. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { expect, it } from '@jest/globals'
import { credential, useMachine } from './machine.ts'
import { capture, controlC, describeInTerminal, enter, inTerminal } from './terminal.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)
const unset = { OWNER_SSO_AUTH_URL: '', OWNER_SSO_REGIONAL_AUTH_URLS: '', OWNER_SSO_API_URL: '' }
const configFile = (): string => join(machine.home, '.config', 'owner-sso', 'config.json')
const config = (): unknown => JSON.parse(readFileSync(configFile(), 'utf8'))

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

  it('asks again after an answer that no command could use, and offers to keep usable settings alone', async () => {
    const terminal = inTerminal(machine, ['setup'], { ...unset, HTTPS_PROXY: 'http://127.0.0.1:1' })
    const answers = async (question: string, wrong: string, problem: string, right: string): Promise<void> => {
      await terminal.shows(question)
      terminal.type(`\u0015${wrong}${enter}`)
      await terminal.shows(problem)
      await terminal.shows(question)
      terminal.type(`\u0015${right}${enter}`)
    }
    await answers('Outbound proxy', 'proxy.example.com', 'proxy must be an http or https address', '')
    await answers('Address of the SSO service', 'auth.example.com', 'authUrl must be an address', emulator.authUrl)
    await answers('Other instances', 'eu.example.com', 'regionalAuthUrls must be an address', emulator.regionalAuthUrl)
    await answers('Address of the owner API', 'api.example.com', 'address can’t be used', 'http://127.0.0.1:1')
    await terminal.shows('Keep it all the same?')
    terminal.type(`y`)
    await answers('Where tokens live', 'file:http://x', 'can’t be understood', 'file:typo')
    await answers('E-mail of the account', 'nobody', 'This is no e-mail', '')
    await terminal.shows('Your settings are in')
    // The question, and what it became once it was answered.
    expect(terminal.screen().match(/Keep it all the same/gu)).toHaveLength(2)
    expect((await terminal.end()).code).toBe(0)
    expect(config()).toMatchObject({ authUrl: emulator.authUrl, apiUrl: 'http://127.0.0.1:1', store: 'file:typo' })
  })

  it('keeps settings that it does not ask for, and the former file beside the new one', async () => {
    const proxy = 'http://127.0.0.1:3128'
    const before = { account: 'old@example.com', keyring: false, transport: 'modern', proxy, authUrl: emulator.authUrl }
    mkdirSync(join(configFile(), '..'), { recursive: true, mode: 0o700 })
    writeFileSync(configFile(), JSON.stringify(before), { mode: 0o600 })
    const terminal = inTerminal(machine, ['setup'], unset)
    for (const question of [
      'Outbound proxy',
      'Address of the SSO service',
      'Other instances',
      'Address of the owner API',
      'Where tokens live',
    ]) {
      await terminal.shows(question)
      terminal.type(enter)
    }
    await terminal.shows('E-mail of the account')
    terminal.type(`\u0015plain@example.com${enter}`)
    await terminal.shows('The former ones are in')
    expect((await terminal.end()).code).toBe(0)
    expect(config()).toEqual({ ...before, account: 'plain@example.com' })
    expect(JSON.parse(readFileSync(`${configFile()}.old`, 'utf8'))).toEqual(before)
  })

  it('writes nothing on Ctrl-C', async () => {
    const terminal = inTerminal(machine, ['setup'], unset)
    await terminal.shows('Address of the SSO service')
    terminal.type(controlC)
    expect(await terminal.end()).toEqual({ code: 130, restored: true })
    expect(config).toThrow('ENOENT')
  })
})
