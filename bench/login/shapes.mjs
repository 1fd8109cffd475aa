/**
 * The same login, written in several ways. Each is given the service and returns a function from an account to its tokens.
 *
 * The floor is what cannot be done with less: `node:https` with one agent for all, and a stream parser that keeps the hidden
 * inputs. It shares connections between accounts, checks no redirect, no state, no page, and bounds nothing. By hand the page is read
 * by the HTML standard, as ours is.
 */
import { createHash, randomBytes } from 'node:crypto'
import https from 'node:https'
import { text } from 'node:stream/consumers'
import axios from 'axios'
import * as cheerio from 'cheerio'
import { Parser } from 'htmlparser2'
import { CookieJar } from 'tough-cookie'
import { createSso } from '@owner-sso/core'

export const shapes = {
  floor: ({ authUrl, ca }) => {
    const agent = new https.Agent({ ca, maxVersion: 'TLSv1.2', keepAlive: true })
    return (account) => walk(authUrl, account, bareRequest(agent), hiddenInputsOfStream)
  },
  'axios, an agent for all': ({ authUrl, ca }) => {
    const httpsAgent = new https.Agent({ ca, maxVersion: 'TLSv1.2', keepAlive: true })
    return (account) => walk(authUrl, account, axiosRequest(httpsAgent), hiddenInputsOfDocument)
  },
  'axios, an agent a login': ({ authUrl, ca }) => {
    return async (account) => {
      const httpsAgent = new https.Agent({ ca, maxVersion: 'TLSv1.2', keepAlive: true })
      try {
        return await walk(authUrl, account, axiosRequest(httpsAgent), hiddenInputsOfDocument)
      } finally {
        httpsAgent.destroy()
      }
    }
  },
  'owner-sso': ({ authUrl, ca }) => {
    const sso = createSso({ authUrl, tls: { ca } })
    return (account) => sso.login(account)
  },
}

/** The document's requests: 3, or 7 with a second factor. */
async function walk(authUrl, { identity, credential, passcode }, request, hiddenInputs) {
  const verifier = randomBytes(64).toString('hex').slice(0, 86)
  const state = randomBytes(16).toString('hex')
  const redirectUri = `${authUrl}/void/callback`
  const query = new URLSearchParams({
    client_id: 'ownerapi',
    code_challenge: Buffer.from(createHash('sha256').update(verifier).digest('hex')).toString('base64url'),
    code_challenge_method: 'S256',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email offline_access',
    state,
  })
  const authorize = `${authUrl}/oauth2/v3/authorize?${query}`
  const page = await request('GET', `${authorize}&login_hint=${encodeURIComponent(identity)}`)
  const form = new URLSearchParams({ ...hiddenInputs(page.body), identity, credential }).toString()
  const exchange = async () => {
    const submitted = await request('POST', authorize, 'application/x-www-form-urlencoded', form)
    const code = new URL(submitted.location).searchParams.get('code')
    const body = { grant_type: 'authorization_code', client_id: 'ownerapi', code, code_verifier: verifier }
    return post('/oauth2/v3/token', { ...body, redirect_uri: redirectUri })
  }
  const post = (path, body) => request('POST', authUrl + path, 'application/json', JSON.stringify(body))
  const answer = await exchange()
  if (answer.body.startsWith('{')) return JSON.parse(answer.body)
  const { transaction_id, _csrf } = hiddenInputs(answer.body)
  const factors = await request('GET', `${authUrl}/oauth2/v3/authorize/mfa/factors?transaction_id=${transaction_id}`)
  const factor_id = JSON.parse(factors.body).data[0].id
  await post('/oauth2/v3/authorize/mfa/verify', { transaction_id, factor_id, passcode, _csrf })
  return JSON.parse((await exchange()).body)
}

/** `node:https` and the cookies of one login in an object. */
function bareRequest(agent) {
  const cookies = {}
  return async (method, url, type, body) => {
    const headers = { 'User-Agent': 'bench/1', Accept: 'text/html, application/json' }
    const cookie = Object.entries(cookies).map((pair) => pair.join('='))
    if (cookie.length > 0) headers.Cookie = cookie.join('; ')
    if (body !== undefined) Object.assign(headers, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) })
    const answer = await new Promise((resolve, reject) => {
      https.request(url, { agent, method, headers }, resolve).on('error', reject).end(body)
    })
    for (const header of answer.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=]*)=([^;]*)/u.exec(header)
      cookies[name] = value
    }
    return { location: answer.headers.location, body: await text(answer) }
  }
}

/** axios and a jar of tough-cookie's for one login, as everybody writes it. */
function axiosRequest(httpsAgent) {
  const jar = new CookieJar()
  const client = axios.create({
    httpsAgent,
    maxRedirects: 0,
    proxy: false,
    responseType: 'text',
    transformResponse: [(data) => data],
    validateStatus: () => true,
    headers: { 'User-Agent': 'bench/1', Accept: 'text/html, application/json' },
  })
  client.interceptors.request.use((config) => {
    const cookie = jar.getCookieStringSync(config.url)
    if (cookie) config.headers.set('Cookie', cookie)
    return config
  })
  client.interceptors.response.use((answer) => {
    for (const cookie of answer.headers['set-cookie'] ?? []) jar.setCookieSync(cookie, answer.config.url)
    return answer
  })
  return async (method, url, type, data) => {
    const answer = await client.request({ method, url, data, headers: type && { 'Content-Type': type } })
    return { location: answer.headers.location, body: answer.data }
  }
}

function hiddenInputsOfStream(html) {
  const inputs = {}
  const parser = new Parser({
    onopentag(name, { type, name: input, value = '' }) {
      if (name === 'input' && type === 'hidden' && input) inputs[input] = value
    },
  })
  parser.end(html)
  return inputs
}

function hiddenInputsOfDocument(html) {
  const $ = cheerio.load(html)
  const inputs = {}
  $('input[type=hidden]').each((_, input) => {
    inputs[$(input).attr('name')] = $(input).attr('value') ?? ''
  })
  return inputs
}
