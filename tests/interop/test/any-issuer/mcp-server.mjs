/** A server of the Model Context Protocol, whose callers need an access token of the provider: it asks the provider whose it is. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

const [, , issuer] = process.argv

async function answer(request, response) {
  if (request.url === '/.well-known/oauth-authorization-server') {
    const metadata = await fetch(`${issuer}/.well-known/openid-configuration`)
    response.setHeader('content-type', 'application/json').end(await metadata.text())
    return
  }
  if (request.url !== '/mcp' || request.method !== 'POST') {
    response.writeHead(request.url === '/mcp' ? 405 : 404).end()
    return
  }
  const { authorization = '' } = request.headers
  const asked = await fetch(`${issuer}/me`, { headers: { authorization } })
  if (!asked.ok) {
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    return
  }
  const { sub } = await asked.json()
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  const mcp = new McpServer({ name: 'who', version: '1.0.0' })
  mcp.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: sub }] }))
  await mcp.connect(transport)
  await transport.handleRequest(request, response)
}

const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
process.send({ url: `http://127.0.0.1:${server.address().port}/mcp` })
