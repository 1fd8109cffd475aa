/** Alerts by MQTT, at a real server: one retained message for each account. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from '@jest/globals'
import { generate } from 'selfsigned'
import { type Alert, mqttAlert } from '../src/index.ts'
import { describeWithMosquitto, retained, startMosquitto } from '../../../tests/support/mosquitto.ts'

const [username, password] = ['broker', 'a-password']
const folder = mkdtempSync(join(tmpdir(), 'owner-sso-mqtt-'))
const opened: { close: () => Promise<void> }[] = []

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function alertOf(account: string, type: Alert['type'] = 'sign-in.needed'): Alert {
  return { id: `id of ${type}`, type, account, at: 1_790_000_000 }
}

/** Sockets of this process that are open. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
}

describeWithMosquitto('at a real server', () => {
  it('keeps the last message about each account, whatever the account is called', async () => {
    const server = await startMosquitto(username, password)
    opened.push(server)
    const channel = mqttAlert({ url: `mqtt://127.0.0.1:${server.port}`, username, password, topic: 'home/owner-sso' })
    const odd = 'ann+car/#@example.com'
    await channel.tell(alertOf(odd))
    // Its connection ends before it says that it has told.
    expect(openSockets()).toBe(0)
    await channel.tell(alertOf('bob@example.com'))
    await channel.tell(alertOf('bob@example.com', 'sign-in.restored'))
    const kept = await retained(server, { username, password }, 'home/owner-sso/+', 2)
    expect([...kept.keys()].toSorted()).toEqual([
      'home/owner-sso/ann%2Bcar%2F%23@example.com',
      'home/owner-sso/bob@example.com',
    ])
    expect(JSON.parse(kept.get('home/owner-sso/bob@example.com') ?? '')).toMatchObject({ type: 'sign-in.restored' })
    expect(JSON.parse(kept.get('home/owner-sso/ann%2Bcar%2F%23@example.com') ?? '')).toMatchObject({
      data: { account: odd },
    })
  }, 60_000)

  it('says so where the password is wrong, or nobody is there', async () => {
    const server = await startMosquitto(username, password)
    opened.push(server)
    const url = `mqtt://127.0.0.1:${server.port}`
    const wrong = mqttAlert({ url, username, password: 'wrong' }).tell(alertOf('ann'))
    await expect(wrong).rejects.toThrow(/not authorized/iu)
    await expect(wrong).rejects.not.toThrow('wrong')
    await server.close()
    await expect(mqttAlert({ url, username, password }).tell(alertOf('ann'))).rejects.toThrow(/ECONNREFUSED/u)
  }, 60_000)

  it('speaks TLS, and only to a server whose certificate it trusts', async () => {
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
      keySize: 2048,
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
    })
    const server = await startMosquitto(username, password, { cert, key })
    opened.push(server)
    const ca = join(folder, 'ca.pem')
    writeFileSync(ca, cert)
    const url = `mqtts://localhost:${server.port}`
    await expect(mqttAlert({ url, username, password }).tell(alertOf('ann'))).rejects.toThrow(/self.signed/iu)
    await mqttAlert({ url, username, password, ca }).tell(alertOf('ann'))
  }, 60_000)
})

describe('MQTT', () => {
  it('gives up on a server that takes the connection and says nothing', async () => {
    const server: Server = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const sockets: (() => void)[] = []
    server.on('connection', (socket) => sockets.push(() => socket.destroy()))
    opened.push({
      close: async () => {
        for (const destroy of sockets) destroy()
        server.close()
        await once(server, 'close')
      },
    })
    const address = server.address()
    const url = `mqtt://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    await expect(mqttAlert({ url, timeout: 300 }).tell(alertOf('ann'))).rejects.toThrow('connack timeout')
  }, 20_000)

  /** Takes the connection, and each message if it is to; tells what it was sent. */
  async function startServer(acknowledges: boolean): Promise<{ readonly url: string; readonly packets: Buffer[] }> {
    const packets: Buffer[] = []
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .on('data', (data) => {
          packets.push(data)
          if (data[0] === 0x10) socket.write(Buffer.from([0x20, 2, 0, 0]))
          // The identifier is behind the topic, whose length is told before it.
          const at = data[0] === 0x33 ? 4 + data.readUInt16BE(data[1]! > 127 ? 3 : 2) + (data[1]! > 127 ? 1 : 0) : 0
          if (at > 0 && acknowledges) socket.write(Buffer.from([0x40, 2, data[at]!, data[at + 1]!]))
        })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    opened.push({
      close: async () => {
        server.close()
        await once(server, 'close')
      },
    })
    const address = server.address()
    return { url: `mqtt://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, packets }
  }

  it.each([
    [{}, 0x02],
    [{ username: 'ann' }, 0x82],
    [{ username: 'ann', password: 'the-password' }, 0xc2],
  ])('with %j sends one message that is kept and acknowledged, and ends its connection', async (named, flags) => {
    const { url, packets } = await startServer(true)
    await mqttAlert({ url, ...named }).tell(alertOf('a b'))
    // Level 4 of the protocol, a clean session.
    expect(packets[0]?.subarray(4, 10)).toEqual(Buffer.from([0x4d, 0x51, 0x54, 0x54, 4, flags]))
    for (const text of Object.values(named)) expect(packets[0]?.includes(text)).toBe(true)
    // Published at least once, and retained.
    expect(packets[1]?.[0]).toBe(0x33)
    const topic = 'owner-sso/a%20b'
    expect(packets[1]?.includes(topic)).toBe(true)
    // Between the topic and the message there are the two bytes of the identifier, whatever they are.
    const message = packets[1]?.subarray(packets[1].indexOf(topic) + topic.length + 2)
    expect(JSON.parse(message?.toString() ?? '')).toEqual({
      id: 'id of sign-in.needed',
      type: 'sign-in.needed',
      timestamp: '2026-09-21T14:13:20.000Z',
      data: { account: 'a b', message: 'a b has to sign in again. Until then, no program gets a token for it.' },
    })
    expect(packets).toHaveLength(2)
  })

  it('gives up on a server that does not acknowledge the message, and leaves no connection', async () => {
    const { url, packets } = await startServer(false)
    await expect(mqttAlert({ url, timeout: 300 }).tell(alertOf('ann'))).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(packets).toHaveLength(2)
  }, 20_000)

  it.each([
    [{ url: 'mqtt://mqtt.example.com' }, 'mqtts address'],
    [{ url: 'https://127.0.0.1' }, 'mqtts address'],
    [{ url: 'mqtts://ann:pass@mqtt.example.com' }, 'user name'],
    ...['', 'home/#', '+/home', '$SYS/home', 'home/'].map(
      (topic) => [{ url: 'mqtt://127.0.0.1', topic }, 'topic'] as const,
    ),
  ] as const)('with %j is rejected', (options, problem) => {
    expect(() => mqttAlert(options)).toThrow(problem)
    expect(() => mqttAlert(options)).toThrow(TypeError)
  })
})
