/**
 * What both nodes of a flow do: use an account, show how it stands, and send each message on, or its error to `catch` nodes.
 */
import { type AccountNode, isAccountNode } from './account.ts'
import type { Config, FlowNode, Message, NodeRed, NodeStatus } from './node-red.ts'
import { needsSignIn, problemWords } from './status.ts'

/** Milliseconds in which a message goes on, or fails. */
const timeLimit = 60_000
/** Milliseconds after which the time that is left is told anew. */
const interval = 60_000

/** @param work - changes the message. @throws what goes to `catch` nodes */
export function registerFlowNode(
  RED: NodeRed,
  type: string,
  work: (account: AccountNode, config: Config, message: Message, signal: AbortSignal) => Promise<void>,
): void {
  RED.nodes.registerType(type, function (config) {
    RED.nodes.createNode(this, config)
    const accountNode = (): AccountNode => {
      const found = RED.nodes.getNode(String(config['account']))
      if (isAccountNode(found)) return found
      throw new Error('This node has no account: choose one in its settings.')
    }
    const lookAgain = showStatus(this, accountNode)

    this.on('input', (message, send, done) => {
      void (async () => {
        try {
          await work(accountNode(), config, message, AbortSignal.timeout(timeLimit))
        } catch (error) {
          if (needsSignIn(error)) message['signInUrl'] = signInUrl(RED, this, accountNode())
          lookAgain()
          done(error)
          return
        }
        send(message)
        done()
      })()
    })
  })
}

/** The broker's page, or this node in the editor: a path there, since Node-RED does not know its own address. */
function signInUrl({ settings }: NodeRed, { id }: FlowNode, node: AccountNode): string {
  const root = (settings.httpAdminRoot || '/').replace(/\/*$/u, '/')
  return node.account().signInUrl ?? `${root}#node/${id}/edit`
}

/** @returns a function that looks again at once */
function showStatus(node: FlowNode, accountNode: () => AccountNode): () => void {
  let looks = 0
  const look = async (): Promise<void> => {
    const turn = (looks += 1)
    const status = await accountStatus(accountNode)
    if (turn === looks) node.status(status)
  }
  const account = orNothing(() => accountNode().account())
  const unsubscribe = account?.onChange(() => void look())
  const timer = setInterval(() => void look(), interval).unref()
  void look()
  node.on('close', (done) => {
    clearInterval(timer)
    unsubscribe?.()
    looks = Infinity
    if (account === undefined) done()
    else void account.settled().finally(done)
  })
  return () => void look()
}

async function accountStatus(accountNode: () => AccountNode): Promise<NodeStatus> {
  const node = orNothing(accountNode)
  if (node === undefined) return { fill: 'red', shape: 'ring', text: 'choose an account' }
  try {
    return await node.account().status()
  } catch (problem) {
    return problemWords(problem)
  }
}

function orNothing<Value>(find: () => Value): Value | undefined {
  try {
    return find()
  } catch {
    return undefined
  }
}
