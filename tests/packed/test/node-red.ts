/** A real Node-RED, as a process with a user folder of its own, in which our nodes are installed from their tarball. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { project } from './empty-project.ts'

const program = join(dirname(createRequire(import.meta.url).resolve('node-red/package.json')), 'red.js')

/** A node of a flow, as the editor deploys it. */
export type FlowNode = { readonly id: string; readonly type: string } & Readonly<Record<string, unknown>>

interface DialogAnswer {
  readonly id?: string
  readonly url?: string
  readonly message?: string
  readonly status?: { readonly text: string }
}

export interface NodeRed {
  readonly url: string
  readonly folder: string
  /** All that it has printed so far. */
  readonly printed: () => string
  /** Resolves at the next line that matches. */
  readonly prints: (pattern: RegExp) => Promise<void>
  /** Replaces all flows, as the button Deploy does by default. */
  readonly deploy: (flows: readonly FlowNode[]) => Promise<void>
  /** What one of its `http in` nodes answers. */
  readonly ask: (path: string) => Promise<{ status: number; body: unknown }>
  /** What the account's dialog sends. */
  readonly dialog: (name: string, fields: object) => Promise<DialogAnswer>
  readonly child: ChildProcess
  /** Ends it as a service manager does. */
  readonly stop: () => Promise<void>
}

export function userFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-node-red-'))
  const manifest = { name: 'flows', private: true, dependencies: { '@owner-sso/node-red': '*' } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(project, 'node_modules/@owner-sso'), join(folder, 'node_modules/@owner-sso'))
  return folder
}

/** @param more - settings; without a `credentialSecret` Node-RED makes one itself */
export async function startNodeRed(
  folder: string = userFolder(),
  more: object = { credentialSecret: 'a secret' },
  env: NodeJS.ProcessEnv = {},
): Promise<NodeRed> {
  const port = await freePort()
  const settings = {
    uiHost: '127.0.0.1',
    uiPort: port,
    ...more,
    flowFile: 'flows.json',
    editorTheme: { tours: false },
    telemetry: { enabled: false, updateNotification: false },
    externalModules: { palette: { allowInstall: false } },
  }
  writeFileSync(join(folder, 'settings.js'), `module.exports = ${JSON.stringify(settings)}`)
  const child = spawn(process.execPath, [program, '--userDir', folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
      child.emit('print', chunk)
    })
  }
  const prints = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error(`Node-RED ended: ${printed}`))
      const look = (chunk: string): void => {
        if (!pattern.test(chunk)) return
        child.off('print', look).off('exit', ended)
        resolve()
      }
      child.on('print', look).once('exit', ended)
    })
  const url = `http://127.0.0.1:${port}`
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  await prints(/Started flows/u)
  return {
    url,
    folder,
    child,
    prints,
    printed: () => printed,
    async deploy(flows) {
      // The answer comes when the flows are saved, which is earlier.
      const started = prints(/Started flows/u)
      const answer = await post('/flows', flows, { 'node-red-deployment-type': 'full' })
      if (answer.status !== 204) throw new Error(await answer.text())
      await started
    },
    async ask(path) {
      const answer = await fetch(url + path)
      const text = await answer.text()
      return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    async dialog(name, fields) {
      const answer: DialogAnswer = JSON.parse(await (await post(`/owner-sso/${name}`, fields)).text())
      return answer
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill()
      await gone
    },
  }
}

/** Every file that Node-RED and our store wrote in its user folder. */
export function filesIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(join(folder, 'node_modules')))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
}
