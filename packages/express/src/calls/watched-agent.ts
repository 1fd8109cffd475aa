/**
 * Agents of node:http, with two answers that it mishandles. Of a 101 that nobody asked for it closes the connection and says
 * nothing to the request, and neither axios nor its `timeout` ends the call then: so the request fails here. One that comes
 * before the request was sent is read.
 */
import type { ClientRequest } from 'node:http'
import { readBeforeFailing } from '../early-answer.ts'
import { property } from '../property.ts'

/** One for each agent: an agent is used for many calls. */
const watching = new WeakMap<object, object>()

/** The same agent for such requests. Anything but an agent of Node's stays as it is. */
export function watched<Agent>(agent: Agent): Agent | object {
  if (typeof agent !== 'object' || agent === null) return agent
  const addRequest = property(agent, 'addRequest')
  // axios makes an agent of its own in place of one with the environment's proxies, and wants its methods as they are.
  if (typeof addRequest !== 'function' || property(property(agent, 'options'), 'proxyEnv')) return agent
  const known = watching.get(agent)
  if (known) return known
  const one: object = Object.create(agent, {
    addRequest: {
      value(request: ClientRequest, ...more: unknown[]): unknown {
        request.once('socket', readBeforeFailing)
        request.once('upgrade', (_answer, socket) => {
          // Another listener may have asked for it.
          if (request.listenerCount('upgrade') > 0) return
          socket.destroy()
          request.destroy().emit('error', switched())
        })
        return Reflect.apply(addRequest, agent, [request, ...more])
      },
    },
  })
  watching.set(agent, one)
  return one
}

function switched(): Error {
  const message = 'The owner API switched protocols unasked (101).'
  return Object.assign(new Error(message), { code: 'ERR_BAD_RESPONSE' })
}
