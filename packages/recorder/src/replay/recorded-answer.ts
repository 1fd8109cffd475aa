/**
 * A recorded answer on its way to a client, with a value in the place of each placeholder.
 */
import type { ServerResponse } from 'node:http'
import type { RecordedAnswer } from '../fixture/fixture.ts'
import { onlyPlaceholder, parseTemplate, render } from '../fixture/placeholders.ts'
import { banner } from '../listener.ts'
import type { Json } from '../masking/field-masks.ts'

/** What stands for a placeholder, by its name. */
type ValueOf = (name: string) => string

export function sendRecorded(response: ServerResponse, recorded: RecordedAnswer, valueOf: ValueOf): void {
  const headers = Object.entries(recorded.headers).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [filled(name, valueOf), headerText(filled(value, valueOf))]),
  )
  const body = Buffer.from(bodyOf(recorded, valueOf))
  response.writeHead(recorded.status, [...headers, banner, '1', 'content-length', String(body.length)]).end(body)
}

function bodyOf({ form, json, html, text }: RecordedAnswer, valueOf: ValueOf): string {
  if (json !== undefined) return JSON.stringify(filledJson(json, valueOf))
  const lines = html ?? text
  if (lines) return filled(lines.join('\n'), valueOf)
  const fields = new URLSearchParams()
  for (const [name, values] of Object.entries(form ?? {})) {
    for (const value of [values].flat()) fields.append(filled(name, valueOf), filled(value, valueOf))
  }
  return fields.toString()
}

function filledJson(value: Json, valueOf: ValueOf): Json {
  if (typeof value === 'string') {
    const isNumber = onlyPlaceholder(value)?.spellings.includes('number')
    return isNumber ? Number(filled(value, valueOf)) : filled(value, valueOf)
  }
  if (Array.isArray(value)) return value.map((item: Json) => filledJson(item, valueOf))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(
    ([name, item]) => [filled(name, valueOf), filledJson(item, valueOf)] as const,
  )
  return Object.fromEntries(fields)
}

function filled(template: string, valueOf: ValueOf): string {
  return render(parseTemplate(template), valueOf)
}

/** What can stand in a header: a value that was edited by hand may hold anything. */
function headerText(value: string): string {
  return value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/gu, '?')
}
