/** Our nodes in a real Node-RED: from its palette to the vehicles, and through whatever goes wrong. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { brokerClients, tokenBroker } from '@owner-sso/broker'
import { createSso, createTokenManager } from '@owner-sso/core'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { describeInChromium, launchChromium, type Page } from '../../support/chromium.ts'
import { filesIn, type FlowNode, type NodeRed, startNodeRed, userFolder } from './node-red.ts'

const credential = 'correct horse'
const vehicles = expect.objectContaining({ count: 2 })

let emulator: Emulator
const running: NodeRed[] = []
async function start(...args: Parameters<typeof startNodeRed>): Promise<NodeRed> {
  const red = await startNodeRed(...args)
  running.push(red)
  return red
}

beforeEach(async () => {
  emulator = await startEmulator({ firewall: false, reuse: 'revoke-family' })
})
afterEach(async () => {
  for (const red of running.splice(0)) {
    await red.stop()
    rmSync(red.folder, { recursive: true, force: true })
  }
  await emulator.close()
})

/** The account's node. */
const account = (settings: object): FlowNode => ({
  id: 'account',
  type: 'owner-sso account',
  source: 'own',
  account: 'plain@example.com',
  authUrl: emulator.authUrl,
  apiUrl: emulator.ownerApiUrl,
  ...settings,
})

const tab: FlowNode = { id: 'tab', type: 'tab', label: 'flow' }

/** What a call of `/ID` does; an error comes back as its code and sentence. */
function flow(id: string, settings: object, wire = `${id}-response`): FlowNode[] {
  const here = { z: 'tab', x: 100, y: 100 }
  const caught = '{ "code": error.code, "message": error.message, "signInUrl": signInUrl }'
  return [
    { ...here, id: `${id}-in`, type: 'http in', url: `/${id}`, method: 'get', wires: [[id]] },
    { ...here, id, type: 'owner-sso API call', account: 'account', call: 'vehicles', wires: [[wire]], ...settings },
    { ...here, id: `${id}-catch`, type: 'catch', scope: [id], wires: [[`${id}-problem`]] },
    {
      ...here,
      id: `${id}-problem`,
      type: 'change',
      rules: [
        { t: 'set', p: 'payload', pt: 'msg', to: caught, tot: 'jsonata' },
        { t: 'set', p: 'statusCode', pt: 'msg', to: '500', tot: 'num' },
      ],
      wires: [[`${id}-response`]],
    },
    { ...here, id: `${id}-response`, type: 'http response', wires: [] },
  ]
}

/** A call of `/ID` gets the access token. */
function tokenFlow(id: string): FlowNode[] {
  const rules = [{ t: 'set', p: 'payload', pt: 'msg', to: '{ "token": accessToken }', tot: 'jsonata' }]
  return [
    ...flow(id, { type: 'owner-sso access token' }, `${id}-shown`),
    { z: 'tab', x: 100, y: 100, id: `${id}-shown`, type: 'change', rules, wires: [[`${id}-response`]] },
  ]
}

describeInChromium('in the editor', () => {
  it('leads from the palette, over a sign-in with a second factor, to vehicles in the debug pane', async () => {
    const red = await start()
    const browser = await launchChromium()
    try {
      const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
      await page.goto(red.url)
      await fromPalette(page, 'inject', 200)
      await fromPalette(page, 'owner-sso API call', 380)
      await fromPalette(page, 'debug', 560)
      await connect(page, 'timestamp', 'all vehicles')
      await connect(page, 'all vehicles', 'debug 1')

      await page.locator('.red-ui-flow-node-group', { hasText: 'all vehicles' }).dblclick()
      await page.locator('.owner-sso-sign-in').click()
      await page.locator('#node-config-input-authUrl').fill(emulator.authUrl)
      await page.locator('#node-config-input-apiUrl').fill(emulator.ownerApiUrl)
      await page.locator('#node-config-input-account').fill('mfa@example.com')
      await page.locator('#owner-sso-credential').fill('wrong horse')
      await page.locator('#owner-sso-password').click()
      await page.getByText(/did not accept|not accepted/u).waitFor()
      await page.locator('#owner-sso-credential').fill(credential)
      await page.locator('#owner-sso-credential').press('Enter')
      const passcode = emulator.account('mfa@example.com').passcode()
      await page.locator('#owner-sso-passcode').fill('000000')
      expect(await page.locator('#owner-sso-password').isVisible()).toBe(false)
      await page.locator('#owner-sso-passcode').press('Enter')
      await page.getByText(/passcode .*(?:not accept|wrong)|did not accept/u).waitFor()
      await page.locator('#owner-sso-again').click()
      await page.locator('#owner-sso-credential').fill(credential)
      await page.locator('#owner-sso-credential').press('Enter')
      await page.locator('#owner-sso-passcode').fill(passcode)
      await page.locator('#owner-sso-passcode').press('Enter')
      await page.locator('#owner-sso-status', { hasText: /^valid, \d h left$/u }).waitFor()
      await page.locator('#node-config-dialog-ok').click()
      await page.locator('#node-dialog-ok').click()
      await page.locator('#red-ui-header-button-deploy').click()
      await page.locator('.red-ui-flow-node-status-label', { hasText: /^valid, \d h left$/u }).waitFor()

      await page.evaluate(`RED.sidebar.show('debug')`)
      await page
        .locator('.red-ui-flow-node-group', { hasText: 'timestamp' })
        .locator('.red-ui-flow-node-button')
        .click()
      await page.locator('.red-ui-debug-msg', { hasText: 'response' }).waitFor()
      expect(emulator.counters.ownerApiCalls).toBe(1)

      const exported: string = await page.evaluate('JSON.stringify(RED.nodes.createCompleteNodeSet())')
      expect(exported).toContain('mfa@example.com')
      const kept = [exported, filesIn(red.folder), red.printed()].join('\n')
      expect([credential, passcode, 'eyJ'].filter((secret) => kept.includes(secret))).toEqual([])
    } finally {
      await browser.close()
    }
  })
})

async function fromPalette(page: Page, type: string, x: number): Promise<void> {
  const node = page.locator(`.red-ui-palette-node[data-palette-type="${type}"]`)
  await node.scrollIntoViewIfNeeded()
  const canvas = await page.locator('#red-ui-workspace-chart').boundingBox()
  const box = await node.boundingBox()
  if (canvas === null || box === null) throw new Error(`The palette has no ${type}`)
  await drag(page, [box.x + box.width / 2, box.y + box.height / 2], [canvas.x + x, canvas.y + 100])
}

async function connect(page: Page, from: string, to: string): Promise<void> {
  const port = async (name: string, kind: string): Promise<[number, number]> => {
    const node = page.locator('.red-ui-flow-node-group', { hasText: name })
    const box = await node.locator(`.red-ui-flow-port-${kind} .red-ui-flow-port`).boundingBox()
    if (box === null) throw new Error(`${name} has no ${kind}`)
    return [box.x + box.width / 2, box.y + box.height / 2]
  }
  await drag(page, await port(from, 'output'), await port(to, 'input'))
}

async function drag(page: Page, from: [number, number], to: [number, number]): Promise<void> {
  await page.mouse.move(...from)
  await page.mouse.down()
  await page.mouse.move(...to, { steps: 5 })
  await page.mouse.up()
}

it('signs in with a browser, and only as the account that it is for', async () => {
  const red = await start()
  const { id, authUrl, source } = account({})
  const signIn = async (named: string) => {
    const begun = await red.dialog('browser', { id, authUrl, source, account: named })
    const address = await emulator.signInByHand(begun.url ?? '', { identity: 'plain@example.com' })
    return red.dialog('finish', { id: begun.id, address })
  }
  expect(await signIn('ann@example.com')).toEqual({
    message: 'The account that signed in is plain@example.com, not ann@example.com. Nothing was stored.',
  })
  expect(await signIn('plain@example.com')).toEqual({})
  await red.deploy([tab, account({}), ...flow('list', {}), ...flow('one', { call: 'vehicle', vehicle: '../me' })])
  expect(await red.ask('/list')).toEqual({ status: 200, body: vehicles })
  expect((await red.ask('/one')).body).toMatchObject({ code: 'ERR_OWNER_API_MALFORMED_PATH' })
})

it("lists the vehicles of today's service by one word, after a sign-in whose address was pasted with its line", async () => {
  emulator.change({ service: 'current' })
  const red = await start()
  const other = account({ id: 'other', service: 'document' })
  const calls = [...flow('list', {}), ...flow('closed', { account: 'other' })]
  await red.deploy([tab, account({ service: 'current' }), other, ...calls])
  const { id, url = '' } = await red.dialog('browser', { id: 'account' })
  const address = await emulator.signInByHand(url, { identity: 'plain@example.com' })
  const line = `Failed to launch '${address}' because the scheme does not have a registered handler.`
  expect(await red.dialog('finish', { id, address: line })).toEqual({})
  expect(await red.ask('/list')).toEqual({ status: 200, body: vehicles })
  expect((await red.ask('/closed')).body).toMatchObject({ code: 'ERR_OWNER_API_CLOSED' })
})

it('signs a registered application in by one word and its environment, and minds no account of another kind', async () => {
  const folder = userFolder()
  await using official = await startEmulator({ service: 'registered' })
  writeFileSync(join(folder, 'secret'), 'emulated-secret\n', { mode: 0o600 })
  const red = await start(
    folder,
    {},
    {
      OWNER_SSO_CLIENT_ID: 'emulated-application',
      OWNER_SSO_CLIENT_SECRET_FILE: join(folder, 'secret'),
      OWNER_SSO_AUDIENCE: official.ownerApiUrl,
      OWNER_SSO_TOKEN_URL: JSON.stringify({ [official.authUrl]: official.tokenUrl }),
      OWNER_SSO_REDIRECT_URI: 'https://app.example.com/callback',
    },
  )
  const registered = account({ service: 'registered', authUrl: official.authUrl, apiUrl: official.ownerApiUrl })
  const other = { ...registered, id: 'other', service: 'current' }
  await red.deploy([tab, registered, other, ...flow('list', {})])
  expect((await red.dialog('browser', { id: 'other' })).url).toContain('client_id=ownerapi')
  const refused = await red.dialog('password', { id: 'account', credential })
  expect(refused.message).toMatch(/not for registered applications: sign in in a browser/u)
  const { id, url = '' } = await red.dialog('browser', { id: 'account' })
  const address = await official.signInByHand(url, { identity: 'plain@example.com' })
  expect(await red.dialog('finish', { id, address })).toEqual({})
  expect(await red.ask('/list')).toEqual({ status: 200, body: vehicles })
})

it('does not sign in for users who may only read, or for a form of another site', async () => {
  const post = (red: NodeRed, name: string, type: string) =>
    fetch(`${red.url}/owner-sso/${name}`, { method: 'POST', headers: { 'content-type': type }, body: '{}' })
  const reading = await start(userFolder(), {
    adminAuth: { type: 'credentials', users: [], default: { permissions: 'read' } },
  })
  const open = await start()
  for (const name of ['status', 'password', 'browser', 'finish']) {
    expect((await post(reading, name, 'application/json')).status).toBe(401)
    expect((await post(open, name, 'application/x-www-form-urlencoded')).status).toBe(415)
  }
})

it('lets a user who may not deploy sign in to deployed accounts alone', async () => {
  const heard: unknown[] = []
  const elsewhere = createServer((request, response) => {
    heard.push(request.headers)
    response.end('{ "code": "ERR", "detail": "of another server" }')
  })
  await once(elsewhere.listen(0, '127.0.0.1'), 'listening')
  const address = Object(elsewhere.address())
  const url = `http://127.0.0.1:${address.port}`
  const folder = userFolder()
  const env = { TEST_SECRET: 'a-secret-of-the-environment', TEST_AUTH_URL: emulator.authUrl }
  try {
    const deployed = account({ authUrl: '${TEST_AUTH_URL}' })
    const ofBroker = account({ id: 'at-broker', source: 'broker', account: '', brokerUrl: 'http://127.0.0.1:1' })
    const brokerKey = '__PWRD__'
    const owner = await start(folder, { credentialSecret: 'a secret' }, env)
    await owner.deploy([
      tab,
      deployed,
      { ...ofBroker, credentials: { brokerKey: 'the-key' } },
      ...flow('list', {}),
      ...flow('brokered', { account: 'at-broker' }),
    ])
    const keyMustBeTyped = { fill: 'red', shape: 'ring', text: expect.stringMatching(/Enter it again/u) }
    expect((await owner.dialog('status', { ...ofBroker, brokerKey, brokerUrl: url })).status).toEqual(keyMustBeTyped)
    const said = await owner.dialog('status', { ...ofBroker, brokerKey: 'typed', brokerUrl: url })
    expect(said.status?.text).toBe('of another server')
    expect(heard).toEqual([expect.objectContaining({ authorization: 'Bearer typed' })])
    await owner.stop()

    const permissions = ['flows.read', 'owner-sso.write']
    // The password is x.
    const ann = {
      username: 'ann',
      password: '$2b$04$oI3ioM91c8ricTjcy70dq.UUQZ82B/YJD.WspNCP9xtJuq6X.asnC',
      permissions: '*',
    }
    const adminAuth = { type: 'credentials', users: [ann], default: { permissions } }
    const red = await start(folder, { credentialSecret: 'a secret', adminAuth }, env)
    const ask = async (name: string, fields: object): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify(fields)
      return (await fetch(`${red.url}/owner-sso/${name}`, { method: 'POST', headers, body })).status
    }
    const elsewhereFolder = join(folder, 'made-for-a-visitor')
    const forbidden = [
      { ...ofBroker, brokerKey, brokerUrl: url },
      { ...ofBroker, brokerKey: 'typed' },
      { ...ofBroker, brokerKey: '${TEST_SECRET}', brokerUrl: url },
      { ...ofBroker, brokerKey: '' },
      { id: 'at-broker', brokerUrl: url },
      { ...deployed, authUrl: url },
      { ...deployed, authUrl: emulator.authUrl },
      { ...deployed, account: '${TEST_SECRET}' },
      { ...deployed, source: 'folder', folder: elsewhereFolder },
      { ...deployed, id: 'unknown' },
      { ...deployed, id: 'list' },
      { ...deployed, id: '__proto__' },
      {},
    ]
    for (const fields of forbidden)
      for (const name of ['status', 'password', 'browser'])
        expect([name, fields, await ask(name, { ...fields, credential })]).toEqual([name, fields, 401])
    expect([heard.length, existsSync(elsewhereFolder)]).toEqual([1, false])

    expect((await red.dialog('status', { ...ofBroker, brokerKey })).status?.text).toBe('The broker can’t be reached.')
    expect(await red.dialog('password', { ...deployed, encryptionKey: '', brokerKey: '', credential })).toEqual({})
    expect((await red.dialog('status', { id: 'account' })).status?.text).toMatch(/^valid, \d h left$/u)
    expect(await red.ask('/list')).toEqual({ status: 200, body: vehicles })
    expect(red.printed()).not.toMatch(/the-key|secret-of/u)

    const login = { client_id: 'node-red-admin', grant_type: 'password', scope: '*', username: 'ann', password: 'x' }
    const { access_token } = Object(
      await (await fetch(`${red.url}/auth/token`, { method: 'POST', body: new URLSearchParams(login) })).json(),
    )
    const asAnn = async (name: string, fields: object): Promise<Record<string, string>> => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${access_token}` }
      const body = JSON.stringify(fields)
      return Object(await (await fetch(`${red.url}/owner-sso/${name}`, { method: 'POST', headers, body })).json())
    }
    const begun = await asAnn('browser', { id: 'account' })
    for (let at = 0; at <= 100; at += 1) await red.dialog('browser', { id: 'account' })
    const callback = await emulator.signInByHand(begun['url'] ?? '', { identity: 'plain@example.com' })
    expect(await asAnn('finish', { id: begun['id'], address: callback })).toEqual({})
  } finally {
    elsewhere.closeAllConnections()
    elsewhere.close()
  }
})

it('asks for a vehicle by the id that its list has, to the last digit', async () => {
  const red = await start()
  expect(await red.dialog('password', { ...account({}), credential })).toEqual({})
  const first = (field: string): object => ({
    type: 'change',
    rules: [{ t: 'set', p: 'vehicle', pt: 'msg', to: `payload.response[0].${field}`, tot: 'msg' }],
  })
  const chain = (name: string, take: object): FlowNode[] => [
    ...flow(name, {}, `${name}-take`),
    { z: 'tab', x: 100, y: 100, id: `${name}-take`, type: 'change', wires: [[`${name}-one`]], ...take },
    ...flow(`${name}-one`, { call: 'vehicle', vehicle: '' }, `${name}-response`),
  ]
  const payload = (value: string): object => ({
    type: 'function',
    func: `msg.payload = ${value}; msg.vehicle = 12345678901234567; return msg`,
  })
  await red.deploy([
    tab,
    account({}),
    ...chain('id', first('id')),
    ...chain('id-s', first('id_s')),
    ...chain('rounded', payload('1')),
    ...chain('posted', payload('{ vehicles: [12345678901234567] }')).map((node) =>
      node.id === 'posted-one' ? { ...node, call: 'other', method: 'POST', path: '/api/1/echo' } : node,
    ),
  ])
  for (const path of ['/id', '/id-s'])
    expect((await red.ask(path)).body).toMatchObject({ response: { display_name: 'Daily', id: '10000000000001001' } })
  const { ownerApiCalls } = emulator.counters
  expect((await red.ask('/rounded')).body).toMatchObject({ message: expect.stringMatching(/msg\.vehicle .*id_s/u) })
  expect((await red.ask('/posted')).body).toMatchObject({ message: expect.stringMatching(/“0” in msg\.payload/u) })
  expect(emulator.counters.ownerApiCalls).toBe(ownerApiCalls + 2)
})

it('shares a session with a second Node-RED, once both have one credential secret', async () => {
  const before = await start(userFolder(), {})
  expect(await before.dialog('password', { ...account({}), credential })).toEqual({})
  await before.deploy([tab, account({}), ...flow('list', {})])
  await before.stop()
  const first = await start(before.folder)
  const second = await start()
  const folder = join(first.folder, 'owner-sso')
  await second.deploy([tab, account({ source: 'folder', folder }), ...flow('list', {})])
  emulator.revokeAccessTokens('plain@example.com')
  for (const { body } of await Promise.all([first, second].map((red) => red.ask('/list'))))
    expect(body).toEqual(vehicles)
  expect(emulator.counters).toMatchObject({ credentialChecks: 1, tokenRefreshes: 1, replays: 0 })
})

it('says in one sentence why the account has to sign in again, and how sure that is', async () => {
  const red = await start()
  expect(await red.dialog('password', { ...account({}), credential })).toEqual({})
  await red.deploy([tab, account({}), ...flow('list', {})])
  expect(await red.ask('/list')).toEqual({ status: 200, body: vehicles })
  emulator.applyScenario('sessions-ended')
  expect((await red.ask('/list')).body).toMatchObject({ code: 'ERR_SSO_REAUTHENTICATION_REQUIRED' })
  expect((await red.dialog('status', { id: 'account' })).status?.text).toMatch(
    /^sign in again(?: within \d+ h)?\. Likely: The service ended the session: a changed password, or a sign-out there\.$/u,
  )
})

it('loses no token in two hundred deploys during a refresh, or when it is stopped in one', async () => {
  const accounts = Array.from({ length: 201 }, (_, at) => ({ identity: `owner${at}@example.com`, credential }))
  await emulator.close()
  emulator = await startEmulator({ firewall: false, reuse: 'revoke-family', accounts })
  const key = randomBytes(32)
  const folder = userFolder()
  const path = join(folder, 'shared')
  const sso = createSso({ authUrl: emulator.authUrl })
  const tokens = createTokenManager({ issuer: sso, store: fileTokenStore({ path, encryptionKey: key }) })
  for (const { identity } of accounts) {
    const { access_token, refresh_token } = await emulator.issueTokens(identity)
    const ended = { access_token, refresh_token, token_type: 'Bearer', expires_at: 1, auth_url: emulator.authUrl }
    await tokens.save(identity, ended)
  }
  const red = await start(folder)
  const credentials = { encryptionKey: key.toString('base64') }
  const flows = (at: number): FlowNode[] => [
    tab,
    account({ source: 'folder', folder: path, account: accounts[at]?.identity, credentials }),
    ...tokenFlow('token'),
  ]
  await red.deploy(flows(0))

  for (const [at] of accounts.entries()) {
    let letGo = (): void => undefined
    emulator.once('refresh', { hold: new Promise<void>((resolve) => (letGo = resolve)), commit: 'after' })
    void red.ask('/token').catch(() => undefined)
    while (emulator.counters.tokenRefreshes <= at) await pause(1)
    const stopping = red.prints(/Stopping flows/u)
    const done = at === 200 ? red.stop() : red.deploy(flows(at + 1))
    await stopping
    // The last takes nearly as long as a request may: nothing of ours ends the wait before it.
    if (at === 200) await pause(13_500)
    letGo()
    await done
  }

  const states = await Promise.all(accounts.map(async ({ identity }) => (await tokens.status(identity)).state))
  expect(states.filter((state) => state !== 'valid')).toEqual([])
  expect(emulator.counters).toMatchObject({ tokenRefreshes: 201, replays: 0 })
})

describe('when something is missing', () => {
  it('says so in a sentence, goes on once it is back, and shows no secret', async () => {
    const red = await start()
    const sso = createSso({ authUrl: emulator.authUrl })
    const store = fileTokenStore({ path: join(red.folder, 'of-broker'), encryptionKey: randomBytes(32) })
    const tokens = createTokenManager({ issuer: sso, store })
    await tokens.save('plain@example.com', await sso.login({ identity: 'plain@example.com', credential }))
    const clients = brokerClients({ store })
    const { refresh_token: brokerKey } = await clients.invite({ name: 'node-red', accounts: ['plain@example.com'] })
    const listen = async (port: number) => {
      const broker = tokenBroker({ tokens, clients })
      return { broker, server: await broker.listen({ port }) }
    }
    const first = await listen(0)
    const port = Number(new URL(first.server.url).port)
    const file = join(red.folder, 'a file')
    writeFileSync(file, '')
    const broker = { source: 'broker', account: '', brokerUrl: `http://127.0.0.1:${port}` }

    await red.deploy([
      tab,
      account({ ...broker, id: 'at-broker', credentials: { brokerKey } }),
      account({ id: 'unreadable', source: 'folder', folder: join(file, 'tokens') }),
      account({ id: 'signed-out' }),
      ...flow('brokered', { account: 'at-broker' }),
      ...flow('removed', { account: 'gone' }),
      ...flow('unreadable-call', { account: 'unreadable' }),
      ...flow('signed-out-call', { account: 'signed-out' }),
      ...flow('elsewhere', { account: 'at-broker', call: 'other', method: 'GET', path: '/api/1/../2/vehicles' }),
      ...tokenFlow('token').map((node) => (node.id === 'token' ? { ...node, account: 'at-broker' } : node)),
    ])
    expect(await red.ask('/brokered')).toEqual({ status: 200, body: vehicles })
    const { token } = Object((await red.ask('/token')).body)
    expect((await red.ask('/removed')).body).toEqual({
      message: expect.stringContaining('This node has no account: choose one'),
    })
    expect((await red.ask('/unreadable-call')).body).toMatchObject({ code: 'ERR_SSO_STORE' })
    expect((await red.ask('/signed-out-call')).body).toEqual({
      code: 'ERR_SSO_SIGNED_OUT',
      message: expect.stringContaining('not signed in'),
      signInUrl: '/#node/signed-out-call/edit',
    })
    expect((await red.ask('/elsewhere')).body).toMatchObject({ code: 'ERR_OWNER_API_MALFORMED_PATH' })

    const says = async (settings: object) => (await red.dialog('status', account(settings))).status?.text
    const ofBroker = { ...broker, brokerKey }
    expect(await says(ofBroker)).toMatch(/^valid, [78] h left$/u)
    expect(await says({ source: 'folder', folder: join(file, 'tokens') })).toBe('the tokens can’t be read')
    expect(await says({})).toBe('sign in')
    expect(await says({ account: '' })).toMatch(/needs the e-mail/u)

    await first.broker.close()
    expect(await says(ofBroker)).toBe('The broker can’t be reached.')
    expect(await says({ ...ofBroker, brokerUrl: `localhost:${port}` })).toMatch(
      /^The broker needs an address, such as/u,
    )
    expect((await red.ask('/brokered')).body).toEqual({
      code: 'ERR_SSO_UNREACHABLE',
      message: expect.stringContaining('The broker can’t be reached.'),
    })
    const again = await listen(port)
    expect(await red.ask('/brokered')).toEqual({ status: 200, body: vehicles })
    await again.broker.close()

    const kept = [filesIn(red.folder), red.printed(), JSON.stringify((await red.ask('/flows')).body)].join('\n')
    expect([token, brokerKey].filter((secret) => kept.includes(secret))).toEqual([])
  })
})
