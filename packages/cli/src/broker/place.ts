/**
 * Where a broker listens, and where it is found.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ListenOptions } from '@owner-sso/broker'
import type { BrokerFlags } from './broker-options.ts'
import { systemError, usageError } from '../failure/command-error.ts'
import { configFolder, expandHome } from '../machine/folders.ts'
import { portOf } from '../settings/option-values.ts'

/** Beside the tokens: a folder that only this user can open. */
const defaultSocket = join(configFolder, 'broker.sock')

export function listenOptionsOf(options: BrokerFlags): ListenOptions[] {
  const { port, socket } = options
  const places: ListenOptions[] = port === undefined ? [] : [{ ...portOptions(options), port: portOf(port) }]
  if (port === undefined || socket !== undefined) places.push({ unix: socketPath(socket) })
  return places
}

function socketPath(socket: string | undefined): string {
  if (socket === undefined) makeConfigFolder()
  return resolve(expandHome(socket ?? defaultSocket))
}

function makeConfigFolder(): void {
  try {
    mkdirSync(configFolder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw systemError(`${configFolder} can’t be made`, error, 'Choose another place with --socket, or give --port.')
  }
}

function portOptions({ host, tlsCert, tlsKey, behindTlsProxy }: BrokerFlags): object {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw usageError('A certificate and its key belong together.', 'Give both --tls-cert and --tls-key, or neither.')
  }
  return {
    ...(host !== undefined && { host }),
    ...(tlsCert !== undefined &&
      tlsKey !== undefined && { tls: { cert: fileAt(tlsCert, '--tls-cert'), key: fileAt(tlsKey, '--tls-key') } }),
    ...(behindTlsProxy && { behindTlsProxy }),
  }
}

function fileAt(path: string, option: string): string {
  try {
    return readFileSync(expandHome(path), 'utf8')
  } catch (error) {
    throw systemError(`${path} can’t be read`, error, `Correct ${option}.`)
  }
}

export function publicUrlOf({ publicUrl }: BrokerFlags): URL | undefined {
  if (publicUrl === undefined) return undefined
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined
  const isOrigin = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  if (url !== undefined && /^https?:$/u.test(url.protocol) && isOrigin) return url
  const next = 'Give --public-url a scheme and a host: https://broker.example.com'
  throw usageError('The public address can’t be used.', next)
}
