/**
 * Responds to one request as its endpoint does, with the fault that was ordered for it, if any.
 */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../faults/fault.ts'
import type { TakenFault } from '../faults/faults.ts'
import { challengeResponse } from '../pages/challenge-page.ts'
import { sendCut, sizedResponse } from '../faults/cut-response.ts'
import { jsonResponse, sendResponse, type ServiceResponse } from '../http/service-response.ts'
import type { Recording } from '../journal/journal.ts'

/** `endpoint` is what the service would do; a fault may come before it, after it, or in its place. */
export async function respond(
  response: ServerResponse,
  fault: TakenFault,
  recording: Recording,
  endpoint: () => ServiceResponse | Promise<ServiceResponse>,
): Promise<void> {
  const late = fault.commit === 'after'
  const inPlace = substituteResponse(fault)

  if (!late) await wait(fault)
  if (fault.drop === 'before-commit') return cut(response)
  const committed = inPlace && !late ? inPlace : await endpoint()
  recording.decided(committed)
  if (late) await wait(fault)
  if (fault.drop === 'after-commit') return cut(response)

  const result = await shaped(inPlace ?? committed, fault)
  recording.answered(result)
  if (fault.drop) await sendCut(response, result, fault.drop)
  else await sendResponse(response, result)
}

async function shaped(original: ServiceResponse, { transform, bodyLength }: TakenFault): Promise<ServiceResponse> {
  const result = transform ? await transform(original) : original
  return bodyLength === undefined ? result : sizedResponse(result, bodyLength)
}

async function wait({ delay, hold }: Fault): Promise<void> {
  if (delay !== undefined) await sleep(delay, undefined, { ref: false })
  await hold?.catch(() => undefined)
}

function cut(response: ServerResponse): void {
  response.destroy()
}

function substituteResponse({ status, headers = {}, body, firewall }: Fault): ServiceResponse | undefined {
  if (firewall) {
    const challenge = challengeResponse(firewall === 'script' ? 'script' : 'page', status)
    return { ...challenge, headers: { ...challenge.headers, ...headers } }
  }
  if (status === undefined && body === undefined) return undefined
  if (typeof body === 'string') return { status: status ?? 200, headers, body }
  return body === undefined ? { status: status ?? 200, headers, body: '' } : jsonResponse(status ?? 200, body, headers)
}
