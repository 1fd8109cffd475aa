/** Runtimes that are not Node: their packages on npm bring them. */
import { write } from '../project.mjs'
import { quickStarts } from '../recipes.mjs'
import { printsVehicles, succeeds } from '../sign-in.mjs'

const runtimes = [
  { name: 'Bun', packages: ['bun'], command: 'node_modules/.bin/bun', args: [] },
  { name: 'Deno', packages: ['deno'], command: 'node_modules/.bin/deno', args: ['run', '--allow-all'] },
]

/** The proxy answers as it does on Node, or says at its construction that it does not run here. */
const proxy = `
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createSso, createTokenManager } from '@owner-sso/core'
import { ownerApiProxy } from '@owner-sso/express'
import { memoryTokenStore } from '@owner-sso/token-store-memory'

const { OWNER_SSO_ACCOUNT: account, OWNER_SSO_CREDENTIAL: credential, OWNER_SSO_AUTH_URL: authUrl } = process.env
const sso = createSso({ authUrl })
const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
let proxy
try {
  proxy = ownerApiProxy({ tokens, account, authorize: true })
} catch (error) {
  console.log('refused: ' + error.message)
  process.exit(0)
}
await tokens.save(account, await sso.login({ identity: account, credential }))
const server = createServer((req, res) => proxy(req, res, (error) => res.writeHead(500).end(String(error)))).listen(0, '127.0.0.1')
await once(server, 'listening')
const answer = await fetch('http://127.0.0.1:' + server.address().port + '/api/1/vehicles')
console.log(answer.status, await answer.text())
process.exit(0)
`

export const otherRuntimes = {
  title: 'Other runtimes',
  prepare: () => new Map(),
  rows: runtimes.flatMap(({ name, packages, command, args }) => {
    const prepared = async (projects, { project }) => {
      if (!projects.has(name)) {
        const ours = ['core', 'express', 'token-store-memory'].map((each) => `@owner-sso/${each}`)
        const here = await project(...ours, ...packages)
        write(here, 'core.mjs', quickStarts.core)
        write(here, 'proxy.mjs', proxy)
        projects.set(name, here)
      }
      return projects.get(name)
    }
    return [
      {
        name: `${name}: core`,
        covers: { 'Other runtimes': name },
        async run(projects, workshop) {
          const here = await prepared(projects, workshop)
          await printsVehicles(`${here}/${command}`, [...args, 'core.mjs'], { cwd: here })
        },
      },
      {
        name: `${name}: the proxy runs, or says that it does not`,
        async run(projects, workshop) {
          const here = await prepared(projects, workshop)
          const printed = await succeeds(`${here}/${command}`, [...args, 'proxy.mjs'], { cwd: here })
          const isFine = /^refused: ownerApiProxy .*(?:Bun|Deno)|^200 .*vin/mu.test(printed)
          if (!isFine) throw new Error(printed)
        },
      },
    ]
  }),
}
