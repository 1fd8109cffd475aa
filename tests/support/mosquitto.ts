/** A real MQTT server on loopback, with a user and, if wanted, TLS. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe } from '@jest/globals'
import { connectAsync } from 'mqtt'
import { freePort } from './free-port.ts'

const hasMosquitto = ['mosquitto', 'mosquitto_passwd'].every((name) => spawnSync(name, ['--help']).error === undefined)
if (!hasMosquitto) console.warn('Skipped: what needs mosquitto, which is not on the PATH (apt-get install mosquitto).')

/** `describe` where there is one to run; skipped elsewhere, and a failure on CI. */
export const describeWithMosquitto: typeof describe | typeof describe.skip =
  hasMosquitto || process.env['CI'] === 'true' ? describe : describe.skip

export interface Mosquitto {
  readonly port: number
  close(): Promise<void>
}

/** @param tls - PEM texts; without them it speaks plain MQTT */
export async function startMosquitto(
  username: string,
  password: string,
  tls?: { readonly cert: string; readonly key: string },
): Promise<Mosquitto> {
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-mosquitto-'))
  const file = (name: string, text = ''): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  spawnSync('mosquitto_passwd', ['-b', '-c', join(folder, 'passwords'), username, password])
  const port = await freePort()
  const lines = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous false',
    `password_file ${join(folder, 'passwords')}`,
    ...(tls ? [`certfile ${file('cert.pem', tls.cert)}`, `keyfile ${file('key.pem', tls.key)}`] : []),
    // It gives up the rights of root, and reads its files before.
    'user root',
  ]
  const child = spawn('mosquitto', ['-c', file('mosquitto.conf', `${lines.join('\n')}\n`)], { stdio: 'ignore' })
  const close = async (): Promise<void> => {
    await ended(child)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error('mosquitto has ended.')
      await pause(20)
    }
  } catch (error) {
    await close()
    throw error
  }
  return { port, close }
}

/** What somebody is sent who subscribes now: the topics and messages that the server has kept, so many of them. */
export async function retained(
  { port }: Mosquitto,
  account: { readonly username: string; readonly password: string },
  pattern: string,
  count: number,
): Promise<Map<string, string>> {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, account)
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

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    }).on('error', () => resolve(false))
  })
}
