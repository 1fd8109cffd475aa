/**
 * What Node-RED loads: an account, and the two nodes that use it. `main.html` beside it is their part in the editor.
 */
import { registerAccount } from './account.ts'
import { callOwnerApi } from './api-call.ts'
import { registerFlowNode } from './flow-node.ts'
import type { NodeRed } from './node-red.ts'
import { registerSignIn } from './sign-in.ts'

export default function nodes(RED: NodeRed): void {
  registerAccount(RED)
  registerSignIn(RED)
  registerFlowNode(RED, 'owner-sso access token', async (node, _config, message, signal) => {
    const { tokens, name } = node.account()
    message['accessToken'] = await tokens.getAccessToken(name, { signal })
  })
  registerFlowNode(RED, 'owner-sso API call', callOwnerApi)
}
