/**
 * The Chrome DevTools Protocol over the browser's debugging pipe: JSON messages, each ended by a NUL. No port is opened, so
 * no other program of this machine can join in.
 */
import type { Readable, Writable } from 'node:stream'

/** What is heeded of each event. */
interface Events {
  'Fetch.requestPaused': {
    readonly requestId: string
    readonly request: { readonly url: string }
    readonly responseHeaders?: readonly { readonly name: string; readonly value: string }[]
  }
  'Page.frameRequestedNavigation': { readonly url: string }
  'Target.attachedToTarget': { readonly sessionId: string }
  'Target.targetCreated': { readonly targetInfo: { readonly targetId: string } }
  'Target.targetDestroyed': { readonly targetId: string }
}

export interface DebuggingPipe {
  /**
   * Resolves when the browser has done it.
   *
   * @param session - of one page; without it, the whole browser is meant
   * @throws Error where the browser refuses, or is gone
   */
  readonly call: (method: string, params?: object, session?: string) => Promise<void>
  readonly on: <Name extends keyof Events>(event: Name, listener: (params: Events[Name]) => void) => void
  readonly ended: Promise<void>
  readonly giveUp: () => void
}

interface Message {
  readonly id?: number
  readonly error?: { readonly message: string }
  readonly method?: string
  readonly params?: never
}

/**
 * @param commands - the browser's descriptor 3
 * @param answers - the browser's descriptor 4
 */
export function openDebuggingPipe(commands: Writable, answers: Readable): DebuggingPipe {
  const waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>()
  const listeners = new Map<string, (params: never) => void>()
  let lastId = 0
  const ended = new Promise<void>((resolve) => answers.once('close', resolve))
  const heed = ({ id, error, method, params }: Message): void => {
    if (id === undefined)
      return method === undefined || params === undefined ? undefined : listeners.get(method)?.(params)
    const caller = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) caller?.resolve()
    else caller?.reject(new Error(`The browser refused: ${error.message}`))
  }
  readMessages(answers, heed)
  answers.once('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('The browser is gone'))
    waiting.clear()
  })
  // A browser that is gone shows itself by the end of its answers.
  commands.on('error', () => undefined)
  answers.on('error', () => undefined)
  return {
    call: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        if (answers.destroyed) return reject(new Error('The browser is gone'))
        const id = (lastId += 1)
        waiting.set(id, { resolve, reject })
        commands.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
      }),
    on: (event, listener) => void listeners.set(event, listener),
    ended,
    giveUp: () => void answers.destroy(),
  }
}

/** A message may come in many chunks, and a chunk may hold many messages. */
function readMessages(answers: Readable, heed: (message: Message) => void): void {
  let chunks: Buffer[] = []
  answers.on('data', (chunk: Buffer) => {
    let rest = chunk
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      const message = Buffer.concat([...chunks, rest.subarray(0, end)]).toString('utf8')
      chunks = []
      rest = rest.subarray(end + 1)
      heed(JSON.parse(message))
    }
    chunks.push(rest)
  })
}
