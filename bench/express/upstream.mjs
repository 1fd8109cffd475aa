/**
 * The owner API of the bench: one small JSON answer, over http and over TLS 1.2, and a count of its connections.
 */
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { generate } from 'selfsigned'

const answer = Buffer.from(
  JSON.stringify({
    response: Array.from({ length: 4 }, (_, index) => ({ id: 1001 + index, display_name: 'Daily', state: 'online' })),
    count: 4,
  }),
)
const headers = { 'content-type': 'application/json', 'content-length': answer.length, etag: '"1"', server: 'bench' }

function answerAll(request, response) {
  request.resume().on('end', () => response.writeHead(200, headers).end(answer))
}

const certificate = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
  keySize: 2048,
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
})
/** Milliseconds: longer than a whole round. A proxy that is idle while others are measured keeps its connections. */
const idle = 600_000
const plain = createServer({ keepAliveTimeout: idle }, answerAll)
const secure = createTlsServer(
  { key: certificate.private, cert: certificate.cert, maxVersion: 'TLSv1.2', keepAliveTimeout: idle },
  answerAll,
)
let connections = 0
plain.on('connection', () => (connections += 1))
secure.on('secureConnection', () => (connections += 1))

const portOf = (server) => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
const ports = { http: await portOf(plain), tls: await portOf(secure) }
process.on('message', () => process.send({ connections }))
process.send({ ports, ca: certificate.cert })
