/** An agent: the Model Context Protocol's SDK with the `clientProvider` of the guide. */
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import './moved-clock.mjs'
import { answer } from './commands.mjs'

const [, , program, server, redirectUrl] = process.argv
const { clientProvider } = await import(pathToFileURL(program).href)
const opened = []
const authProvider = clientProvider('owner', redirectUrl, (url) => opened.push(url))
const transport = () => new StreamableHTTPClientTransport(new URL(server), { authProvider })

const commands = {
  /** What the tool said to each of so many connections, or why there was none; and where people were sent. */
  async ask(times) {
    const ask = async () => {
      const client = new Client({ name: 'agent', version: '1.0.0' })
      await client.connect(transport())
      const { content } = await client.callTool({ name: 'whoami', arguments: {} })
      return content[0].text
    }
    const answers = await Promise.all(
      Array.from({ length: times }, () => ask().catch(({ name, message }) => `${name}: ${message}`)),
    )
    return { answers: [...new Set(answers)], opened: opened.splice(0) }
  },
  finish: (code) => transport().finishAuth(code),
}

answer(commands)
process.send({ ready: true })
