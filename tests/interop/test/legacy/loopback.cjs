/**
 * Preloaded (`node --require`) into a client with fixed addresses: its HTTPS requests arrive on loopback. Only where they
 * connect changes, and whose certificate is trusted; what is sent stays as the client made it.
 */
const https = require('node:https')

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]'])
const service = new URL(process.env.LOOPBACK_SERVICE)
const ownerApi = new URL(process.env.LOOPBACK_OWNER_API)
const ca = process.env.LOOPBACK_CA
const { request } = https

https.request = (options, callback) => {
  const host = options.hostname ?? options.host
  return request(Object.assign({}, options, { ca }, loopback.has(host) ? {} : addressOf(host)), callback)
}

function addressOf(host) {
  const { hostname, port } = host.startsWith('owner-api.') ? ownerApi : service
  return { host: hostname, hostname, port, servername: 'localhost' }
}
