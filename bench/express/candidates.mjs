/**
 * The proxies of the bench: each a function of the upstream's address and its tokens that gives a request listener.
 */
import { Agent, request as httpRequest } from 'node:http'
import { Agent as TlsAgent, request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import fastifyProxy from '@fastify/http-proxy'
import { ownerApiBearer, ownerApiProxy } from '@owner-sso/express'
import express from 'express'
import fastify from 'fastify'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { createProxyServer } from 'httpxy'
import { Pool } from 'undici'

const account = 'bench@example.com'
const inExpress = (...handlers) => express().use('/', ...handlers)

const poolOf = ({ target, ca }) => new Pool(target, { connect: { ca, maxVersion: 'TLSv1.2' } })
const agentOf = ({ target, ca }) =>
  target.startsWith('https:')
    ? new TlsAgent({ keepAlive: true, ca, maxVersion: 'TLSv1.2' })
    : new Agent({ keepAlive: true })
const ours = ({ target, ca, tokens }) => ownerApiProxy({ target, tokens, account, authorize: true, tls: { ca } })

/** HTTP/2 takes no headers of a connection. */
function endToEnd({ httpVersionMajor }, headers) {
  if (httpVersionMajor < 2) return headers
  const { connection: _connection, 'keep-alive': _keepAlive, ...others } = headers
  return others
}

/** What one writes by hand: no allow-list, no checks, no answers to errors. */
function undiciStream({ target, ca, tokens }) {
  const pool = poolOf({ target, ca })
  return (req, res) => {
    tokens
      .getAccessToken(account)
      .then((token) =>
        pool.stream(
          {
            path: req.url,
            method: req.method,
            headers: { accept: req.headers.accept, authorization: `Bearer ${token}` },
            body: req.method === 'GET' ? null : req,
          },
          ({ statusCode, headers }) => res.writeHead(statusCode, endToEnd(req, headers)),
        ),
      )
      .catch(() => res.destroy())
  }
}

function nodeHttp({ target, ca, tokens }) {
  const agent = agentOf({ target, ca })
  const request = target.startsWith('https:') ? httpsRequest : httpRequest
  return async (req, res) => {
    const authorization = `Bearer ${await tokens.getAccessToken(account)}`
    const upstream = request(target + req.url, {
      agent,
      method: req.method,
      headers: { accept: req.headers.accept, authorization },
    })
    upstream.on('response', (answer) => {
      res.writeHead(answer.statusCode, endToEnd(req, answer.headers))
      pipeline(answer, res, () => {})
    })
    pipeline(req, upstream, () => {})
  }
}

/** The token is resolved by our middleware in front, as it should be. */
function proxyMiddleware({ target, tokens }, agent) {
  // Without an agent there is no place for a CA.
  const proxy = createProxyMiddleware({ target, changeOrigin: true, agent, secure: agent !== undefined })
  return inExpress(ownerApiBearer({ tokens, account }), proxy)
}

function httpxy(c) {
  const proxy = createProxyServer({ target: c.target, changeOrigin: true, agent: agentOf(c) })
  return async (req, res) => {
    const authorization = `Bearer ${await c.tokens.getAccessToken(account)}`
    await proxy.web(req, res, { headers: { authorization } })
  }
}

async function fastifyListener({ target, ca, tokens, version }) {
  const app = fastify({ http2: version === '2' })
  await app.register(fastifyProxy, {
    upstream: target,
    undici: { connections: 128, pipelining: 1, connect: { ca, maxVersion: 'TLSv1.2' } },
    // oxlint-disable-next-line typescript/no-misused-promises -- Fastify awaits its hooks
    preHandler: async (req) => {
      req.raw.ownerToken = await tokens.getAccessToken(account)
    },
    replyOptions: {
      rewriteRequestHeaders: (req, headers) => ({ ...headers, authorization: `Bearer ${req.raw.ownerToken}` }),
    },
  })
  await app.ready()
  return (req, res) => app.routing(req, res)
}

/**
 * `floor` names the candidate that a ratio is taken to, `budget` what it should be at most. Over HTTP/2 there is no Express,
 * and no httpxy, which passes on headers that HTTP/2 forbids.
 */
export const candidates = {
  'undici stream by hand, Express': { listener: (c) => inExpress(undiciStream(c)) },
  'ours, Express': { listener: (c) => inExpress(ours(c)), floor: 'undici stream by hand, Express', budget: 1.05 },
  'ours without a bearer, Express': {
    listener: (c) =>
      inExpress(ours({ ...c, tokens: { getAccessToken: async () => 'none', invalidate: async () => {} } })),
    floor: 'undici stream by hand, Express',
  },
  'http-proxy-middleware, Express': { listener: (c) => proxyMiddleware(c) },
  'http-proxy-middleware + agent, Express': { listener: (c) => proxyMiddleware(c, agentOf(c)) },
  'httpxy, Express': { listener: (c) => inExpress(httpxy(c)), floor: 'undici stream by hand, Express' },
  'node:http + agent, bare': { listener: nodeHttp },
  'undici stream by hand, bare': { listener: undiciStream, floor: 'node:http + agent, bare' },
  'ours, bare': { listener: ours, floor: 'node:http + agent, bare', budget: 0.7 },
  'httpxy, bare': { listener: httpxy, floor: 'node:http + agent, bare' },
  'fastify proxy': { listener: fastifyListener, floor: 'node:http + agent, bare' },
}

/** Further ratios of the budget table: [candidate, floor, budget]. */
export const ratios = [
  ['ours, Express', 'ours without a bearer, Express', 1.05],
  ['ours, Express', 'http-proxy-middleware + agent, Express', 0.8],
  ['ours, Express', 'httpxy, Express', 1],
  ['ours, bare', 'undici stream by hand, bare', 1.05],
  ['ours, bare', 'httpxy, bare', 1],
  ['ours, bare', 'fastify proxy', 1],
]
