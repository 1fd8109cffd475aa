/**
 * The callers: N kept-alive connections, each with its next request as soon as its answer is there. As cheap as can be, so
 * that the server gets the CPU: a fixed request, and answers told apart by their Content-Length.
 */
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'

const head = 'HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json, text/html\r\nuser-agent: bench\r\n'

process.on('message', (order) => {
  void load(order).then((result) => process.send(result))
})

/** Over HTTP/2, ten streams take the place of ten connections. */
async function load(order) {
  const { port, version, connections, milliseconds, count = Infinity, path = '/api/1/vehicles', cookie } = order
  const request = `GET ${path} ${head}${cookie ? `cookie: ${cookie}\r\n` : ''}\r\n`
  const until = performance.now() + milliseconds
  const result = { done: 0, failed: 0, latencies: [] }
  const sessionCount = version === '2' ? Math.ceil(connections / 10) : 0
  const sessions = Array.from({ length: sessionCount }, () => connectHttp2(`http://127.0.0.1:${port}`))
  await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const session = sessions[index % sessions.length]
      if (session) return streamsInTurn(session, until, count, result)
      // Some proxies close the connection behind every answer.
      do await callInTurn(port, request, until, count, result)
      while (performance.now() < until && result.done < count)
    }),
  )
  for (const session of sessions) session.close()
  result.latencies.sort((a, b) => a - b)
  const at = (share) => result.latencies[Math.floor((result.latencies.length - 1) * share)]
  return { done: result.done, failed: result.failed, p50: at(0.5), p99: at(0.99) }
}

async function streamsInTurn(session, until, count, result) {
  while (performance.now() < until && result.done < count) {
    const sentAt = performance.now()
    const status = await new Promise((resolve, reject) => {
      let answered
      session
        .request({ ':path': '/api/1/vehicles', accept: 'application/json', 'user-agent': 'bench' })
        .once('response', (headers) => (answered = headers[':status']))
        .once('error', reject)
        .once('close', () => resolve(answered))
        .resume()
    })
    if (status === 200) result.done += 1
    else result.failed += 1
    result.latencies.push(performance.now() - sentAt)
  }
}

function callInTurn(port, request, until, count, result) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    let sentAt = 0
    const send = () => {
      if (performance.now() >= until || result.done >= count) socket.end()
      else {
        sentAt = performance.now()
        socket.write(request)
      }
    }
    socket.setNoDelay(true).setEncoding('latin1')
    socket.on('connect', send)
    socket.on('data', (text) => {
      received += text
      const end = received.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = /\r\ncontent-length: (\d+)/iu.exec(received)?.[1]
      if (length === undefined ? !received.endsWith('0\r\n\r\n') : received.length < end + 4 + Number(length)) return
      if (received.startsWith('HTTP/1.1 200')) result.done += 1
      else result.failed += 1
      result.latencies.push(performance.now() - sentAt)
      received = ''
      send()
    })
    // Some proxies don't answer every call.
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')))
    socket.on('error', () => (result.failed += 1))
    socket.on('close', resolve)
  })
}
