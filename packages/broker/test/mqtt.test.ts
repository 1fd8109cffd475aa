/** Alerts by MQTT, at a real server: one retained message for each account. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from '@jest/globals'
import { connectAsync } from 'mqtt'
import { generate } from 'selfsigned'
import type { Alert } from '../src/alerts/alert.ts'
import { alertTopic, mqttAlert } from '../src/alerts/mqtt.ts'
import { describeWithMosquitto, startMosquitto } from './mosquitto.ts'

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

/** Who subscribes now: the topics and messages that the server has kept. */
async function retained(port: number, pattern: string, count: number): Promise<Map<string, string>> {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, { username, password })
  const kept = new Map<string, string>()
  const all = new Promise<void>((resolve) => {
    client.on('message', (topic, message) => {
      kept.set(topic, message.toString())
      if (kept.size === count) resolve()
    })
  })
  try {
    await client.subscribeAsync(pattern)
    await all
    return kept
  } finally {
    await client.endAsync(true)
  }
}

describeWithMosquitto('at a real server', () => {
  it('keeps the last word about each account, whatever the account is called', async () => {
    const server = await startMosquitto(username, password)
    opened.push(server)
    const channel = mqttAlert({ url: `mqtt://127.0.0.1:${server.port}`, username, password, topic: 'home/owner-sso' })
    const odd = 'ann+car/#@example.com'
    await channel.tell(alertOf(odd))
    // Its connection ends before it says that it has told.
    expect(openSockets()).toBe(0)
    await channel.tell(alertOf('bob@example.com'))
    await channel.tell(alertOf('bob@example.com', 'sign-in.restored'))
    const kept = await retained(server.port, 'home/owner-sso/+', 2)
    expect([...kept.keys()].toSorted()).toEqual([
      'home/owner-sso/ann%2Bcar%2F%23@example.com',
      'home/owner-sso/bob@example.com',
    ])
    expect(JSON.parse(kept.get('home/owner-sso/bob@example.com') ?? '')).toMatchObject({ type: 'sign-in.restored' })
    expect(JSON.parse(kept.get(alertTopic('home/owner-sso', odd)) ?? '')).toMatchObject({ data: { account: odd } })
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
  it('gives a server up that takes the connection and says nothing', async () => {
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

  it.each([
    [{ url: 'mqtt://mqtt.example.com' }, 'mqtts address'],
    [{ url: 'https://127.0.0.1' }, 'mqtts address'],
    [{ url: 'mqtts://ann:pass@mqtt.example.com' }, 'user name'],
    ...['', 'home/#', '+/home', '$SYS/home', 'home/'].map(
      (topic) => [{ url: 'mqtt://127.0.0.1', topic }, 'topic'] as const,
    ),
  ] as const)('with %j is refused', (options, problem) => {
    expect(() => mqttAlert(options)).toThrow(problem)
    expect(() => mqttAlert(options)).toThrow(TypeError)
  })
})
