/**
 * The callers: N kept-alive connections, each with its next request as soon as its answer is there. As cheap as can be, so
 * that the proxy gets the CPU: a fixed request, and answers told apart by their Content-Length.
 */
import { connect } from 'node:net'

const request =
  'GET /api/1/vehicles HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\nuser-agent: bench\r\n\r\n'

process.on('message', (order) => {
  void load(order).then((result) => process.send(result))
})

async function load({ port, connections, milliseconds, count = Infinity }) {
  const until = performance.now() + milliseconds
  const result = { done: 0, failed: 0, latencies: [] }
  await Promise.all(
    Array.from({ length: connections }, async () => {
      // Some proxies close the connection behind every answer.
      do await callInTurn(port, until, count, result)
      while (performance.now() < until && result.done < count)
    }),
  )
  result.latencies.sort((a, b) => a - b)
  const at = (share) => result.latencies[Math.floor((result.latencies.length - 1) * share)]
  return { done: result.done, failed: result.failed, p50: at(0.5), p99: at(0.99) }
}

function callInTurn(port, until, count, result) {
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
    socket.on('error', () => (result.failed += 1))
    socket.on('close', resolve)
  })
}
