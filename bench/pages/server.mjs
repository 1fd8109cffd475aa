/** The portal, the broker's status page and Express pages by hand in one process. Sends where the pages are; tells its CPU time when asked. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { brokerClients, statusPage, statusPageCode } from '@owner-sso/broker'
import { createSso, createTokenManager } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import express from 'express'
import session from 'express-session'
import helmet from 'helmet'
import passport from 'passport'
import { request as ask } from 'undici'
import { createApp } from '../../examples/owner-portal/dist/app.js'

const upstream = fork(fileURLToPath(new URL('service.mjs', import.meta.url)), {
  env: { ...process.env, NODE_ENV: 'development' },
})
process.once('disconnect', () => process.exit())
const [{ authUrl, ownerApiUrl, account, credential }] = await once(upstream, 'message')

const sso = createSso({ authUrl })
const store = memoryTokenStore()
const tokens = createTokenManager({ issuer: sso, store })
const clients = brokerClients({ store })
const portal = await listening(createApp({ sso, tokens, apiUrl: ownerApiUrl }))
const status = await listening(statusPage({ tokens, sso, clients, store }).handler)

const signIn = await (await fetch(`${portal}/sign-in`)).text()
const bare = await listening(express().get('/', (_request, response) => response.send(signIn)))
const usual = await listening(
  express()
    .use(helmet())
    .use(session({ secret: 'a secret of the bench', resave: false, saveUninitialized: false }))
    .use(express.urlencoded())
    .use(passport.session())
    .get('/', (_request, response) => response.send(signIn))
    .get('/vehicles', async (_request, response) => {
      const headers = { authorization: `Bearer ${await tokens.getAccessToken(account)}` }
      const { body } = await ask(`${ownerApiUrl}/api/1/vehicles`, { headers })
      await body.json()
      response.send(signIn)
    }),
)
const owner = await entered(`${portal}/sign-in`, '/sign-in', { identity: account, credential })
const visitor = await entered(`${status}/status`, '/status/enter', { code: await statusPageCode(store) })
await clients.invite({ name: 'a program', accounts: [account], scope: ['token'] })

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send(user + system)
})
process.send(
  [
    ['bare Express page', bare, '/'],
    ['Express page behind helmet, a session and Passport', usual, '/'],
    ['the same with a call of the owner API', usual, '/vehicles'],
    ['portal, sign-in page', portal, '/sign-in'],
    ['portal, home with a call of the owner API', portal, '/', owner],
    ['broker, entrance', status, '/status'],
    ['broker, overview', status, '/status', visitor],
  ].map(([name, url, path, cookie]) => ({ name, port: Number(new URL(url).port), path, cookie })),
)

async function listening(listener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${server.address().port}`
}

/** The cookies of who has filled in a form. */
async function entered(page, action, fields) {
  const cookies = new Map()
  const send = async (url, init) => {
    const cookie = [...cookies.values()].join('; ')
    const answer = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) cookies.set(line.split('=')[0], line.split(';')[0])
    return answer
  }
  const html = await (await send(page)).text()
  const [, token = ''] = /name="_csrf"[^>]*value="([^"]*)"/u.exec(html) ?? []
  const body = new URLSearchParams({ ...fields, _csrf: token })
  const { status: code } = await send(new URL(action, page), { method: 'POST', body })
  if (code !== 303) throw new Error(`${action} answered ${code}`)
  return [...cookies.values()].join('; ')
}
