/**
 * Lets an endpoint answer one request, with the fault that was ordered for it, if any.
 */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from './faults/fault.ts'
import type { TakenFault } from './faults/faults.ts'
import { challengeReply } from './challenge-page.ts'
import type { Recording } from './journal/journal.ts'
import { isSpoiled, sendSpoiled } from './faults/spoiled-answer.ts'
import { jsonReply, sendReply, type Reply } from './reply.ts'
import { sizedReply } from './faults/sized-body.ts'

/** `endpoint` is what the service would do; a fault may come before it, after it, or in its place. */
export async function answer(
  response: ServerResponse,
  fault: TakenFault,
  recording: Recording,
  endpoint: () => Reply | Promise<Reply>,
): Promise<void> {
  const late = fault.commit === 'after'
  const inPlace = replyInPlace(fault)

  if (!late) await wait(fault)
  if (fault.drop === 'before-commit') return cut(response)
  const committed = inPlace && !late ? inPlace : await endpoint()
  recording.decided(committed)
  if (late) await wait(fault)
  if (fault.drop === 'after-commit') return cut(response)
  if (fault.drop === 'half-close') return void response.socket?.end()

  const reply = await shaped(inPlace ?? committed, fault)
  recording.answered(reply)
  if (isSpoiled(fault)) await sendSpoiled(response, reply, fault)
  else await sendReply(response, reply)
}

async function shaped(reply: Reply, { bend, bodyLength }: TakenFault): Promise<Reply> {
  const bent = bend ? await bend(reply) : reply
  return bodyLength === undefined ? bent : sizedReply(bent, bodyLength)
}

async function wait({ delay, hold }: Fault): Promise<void> {
  if (delay !== undefined) await sleep(delay, undefined, { ref: false })
  await hold?.catch(() => undefined)
}

function cut(response: ServerResponse): void {
  response.destroy()
}

function replyInPlace({ status, headers = {}, body, firewall }: Fault): Reply | undefined {
  if (firewall) {
    const challenge = challengeReply(firewall === 'script' ? 'script' : 'page', status)
    return { ...challenge, headers: { ...challenge.headers, ...headers } }
  }
  if (status === undefined && body === undefined) return undefined
  if (typeof body === 'string') return { status: status ?? 200, headers, body }
  return body === undefined ? { status: status ?? 200, headers, body: '' } : jsonReply(status ?? 200, body, headers)
}
