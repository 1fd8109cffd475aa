/** What the system says of a connection that was cut, for requests of which it does not. In a file of its own: node:http2 loads slowly. */
export function brokenConnection(): Error {
  return Object.assign(new Error('The connection broke.'), { code: 'ECONNRESET', syscall: 'read' })
}
