/** Whether an exchange is what a description says: problems as sentences, and the names of the schemas that were met. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import {
  child,
  operationsOf,
  pointer,
  resolved,
  schemasOf,
  wholeSchema,
  type Json,
  type Operation,
} from './description.ts'
import type { Exchange } from './traffic.ts'

export interface Verdict {
  readonly problems: readonly string[]
  /** `POST /path 200 text/html PasscodePage`, for an answer; `POST /path text/html LoginForm`, for a request. */
  readonly met: readonly string[]
}

export interface Checks {
  readonly request: (exchange: Exchange) => Verdict
  readonly answer: (exchange: Exchange) => Verdict
}

/** Headers of the connection, which no description lists. */
const TRANSPORT = new Set(['content-type', 'content-length', 'transfer-encoding', 'connection', 'date', 'keep-alive'])
// The linter looks at the schemas themselves.
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, validateSchema: false })
addFormats.default(ajv)
/** Compiling is what takes time: a schema that several descriptions have is compiled once. */
const compiled = new Map<string, ValidateFunction>()

export function createChecks(description: Json): Checks {
  const validators = new Map<string, ValidateFunction>()
  const operations = operationsOf(description)

  function problemsOf(at: string, value: unknown): string[] {
    const validate = validators.get(at) ?? validatorOf(wholeSchema(description, at))
    validators.set(at, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(({ instancePath, message }) => `${at}: ${instancePath} ${message}`)
  }

  /** The value fits one of the media type's schemas at least. */
  function checkContent(of: string, contents: Json, mediaType: string, text: string): Verdict {
    if (!Object.hasOwn(contents, mediaType)) return { problems: [`${of}: ${mediaType} is not described`], met: [] }
    const value = valueOf(mediaType, text)
    const all = schemasOf(child(contents, mediaType)).map((schema) => ({
      met: `${of} ${mediaType} ${schema.name}`,
      problems: problemsOf(schema.at, value),
    }))
    const met = all.filter(({ problems }) => problems.length === 0).map((schema) => schema.met)
    return { met, problems: met.length > 0 ? [] : all.flatMap(({ problems }) => problems) }
  }

  function checkParameters({ at, node }: Operation, { url, headers }: Exchange): string[] {
    const query = new URL(url).searchParams
    const listed = Object.values(child(node, 'parameters')).map((parameter, index) =>
      resolved(description, pointer(at, 'parameters', String(index)), parameter as Json),
    )
    const known = new Set(listed.map((parameter) => parameter.node['name']))
    const unknown = [...query.keys()].filter((name) => !known.has(name))
    return [
      ...unknown.map((name) => `${name} is not described`),
      ...listed.flatMap((parameter) => {
        const name = String(parameter.node['name'])
        const values = parameter.node['in'] === 'query' ? query.getAll(name) : cookieOf(headers.cookie, name)
        if (values.length === 0) return parameter.node['required'] === true ? [`${name} is missing`] : []
        return [
          ...(values.length > 1 ? [`${name} is repeated`] : []),
          ...values.flatMap((value) => problemsOf(pointer(parameter.at, 'schema'), value)),
        ]
      }),
    ]
  }

  function checkHeaders(at: string, answer: Json, sent: Exchange['answerHeaders']): string[] {
    const listed = child(answer, 'headers')
    const unknown = Object.keys(sent).filter((name) => !TRANSPORT.has(name) && !Object.hasOwn(listed, name))
    return [
      ...unknown.map((name) => `${at}: the header ${name} is not described`),
      ...Object.entries(listed).flatMap(([name, header]) => {
        const { at: where, node } = resolved(description, pointer(at, 'headers', name), header as Json)
        const values = [sent[name] ?? []].flat()
        if (values.length === 0 && node['required'] === true) return [`${at}: the header ${name} is missing`]
        return values.flatMap((value) => problemsOf(pointer(where, 'schema'), String(value)))
      }),
    ]
  }

  const operationOf = ({ method, url }: Exchange): Operation | undefined =>
    operations.find((operation) => operation.method === method && operation.path === new URL(url).pathname)

  return {
    request(exchange) {
      const operation = operationOf(exchange)
      if (!operation) return { problems: [`${exchange.method} ${exchange.url} is not described`], met: [] }
      const { node, method, path } = operation
      const problems = checkParameters(operation, exchange)
      if (!('requestBody' in node)) {
        return { problems: [...problems, ...(exchange.body === '' ? [] : ['A body is not described'])], met: [] }
      }
      const contents = child(node, 'requestBody', 'content')
      const mediaType = mediaTypeOf(exchange.headers['content-type'])
      const body = checkContent(`${method} ${path}`, contents, mediaType, exchange.body)
      return { problems: [...problems, ...body.problems], met: body.met }
    },
    answer(exchange) {
      const operation = operationOf(exchange)
      const answer = operation && child(operation.node, 'responses', String(exchange.status))
      const of = `${exchange.method} ${new URL(exchange.url).pathname} ${exchange.status}`
      if (!operation || !answer || !('description' in answer)) return { problems: [`${of} is not described`], met: [] }
      const at = pointer(operation.at, 'responses', String(exchange.status))
      const problems = checkHeaders(at, answer, exchange.answerHeaders)
      if (!('content' in answer)) {
        return { problems: [...problems, ...(exchange.answer === '' ? [] : [`${of}: a body`])], met: [of] }
      }
      const mediaType = mediaTypeOf(exchange.answerHeaders['content-type'])
      const body = checkContent(of, child(answer, 'content'), mediaType, exchange.answer)
      return { problems: [...problems, ...body.problems], met: body.met }
    },
  }
}

function validatorOf(schema: Json): ValidateFunction {
  const key = JSON.stringify(schema)
  const validate = compiled.get(key) ?? ajv.compile(schema)
  compiled.set(key, validate)
  return validate
}

function valueOf(mediaType: string, text: string): unknown {
  if (mediaType === 'text/html' || mediaType === 'image/svg+xml') return text
  if (mediaType === 'application/x-www-form-urlencoded') {
    const form = new URLSearchParams(text)
    const names = [...new Set(form.keys())]
    return Object.fromEntries(
      names.map((name) => [name, form.getAll(name).length > 1 ? form.getAll(name) : form.get(name)]),
    )
  }
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function mediaTypeOf(header: unknown): string {
  return String(header).split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function cookieOf(header: string | undefined, name: string): string[] {
  const pairs = (header ?? '').split('; ').map((pair) => pair.split(/=(.*)/su))
  return pairs.filter(([own]) => own === name).map(([, value = '']) => value)
}
