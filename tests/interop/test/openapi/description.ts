/** An OpenAPI description as the checks walk it: its operations, and where in the document each part stands. */

export type Json = Readonly<Record<string, unknown>>

export interface Operation {
  readonly method: string
  readonly path: string
  /** JSON pointer of the operation. */
  readonly at: string
  readonly node: Json
}

export function operationsOf(description: Json): Operation[] {
  return Object.entries(child(description, 'paths')).flatMap(([path, item]) =>
    Object.entries(Object(item)).map(([method, node]) => ({
      method: method.toUpperCase(),
      path,
      at: pointer('', 'paths', path, method),
      node: node as Json,
    })),
  )
}

export function child(node: Json, ...names: readonly string[]): Json {
  return names.reduce<Json>((parent, name) => Object(parent[name]), node)
}

export function pointer(base: string, ...names: readonly string[]): string {
  return [base, ...names.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/')
}

/** The node itself, or what its `$ref` leads to, with the pointer of either. */
export function resolved(description: Json, at: string, node: Json): { readonly at: string; readonly node: Json } {
  const { $ref } = node
  if (typeof $ref !== 'string') return { at, node }
  const names = $ref.split('/').slice(1)
  return { at: $ref.slice(1), node: child(description, ...names) }
}

/** The schema that stands there, with everything it refers to in place. */
export function wholeSchema(description: Json, at: string): Json {
  const names = at.split('/').slice(1)
  const inPlace = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(inPlace)
    const { node } = resolved(description, '', value as Json)
    return Object.fromEntries(Object.entries(node).map(([name, part]) => [name, inPlace(part)]))
  }
  return inPlace(child(description, ...names.map(unescaped))) as Json
}

function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Where the schemas of a media type stand: one, or those of its `anyOf`, with their names. */
export function schemasOf(mediaType: Json): { readonly name: string; readonly at: string }[] {
  const { anyOf, $ref } = child(mediaType, 'schema')
  const all = Array.isArray(anyOf) ? (anyOf as Json[]) : [{ $ref }]
  return all.map(({ $ref: target }) => ({ name: String(target).split('/').at(-1) ?? '', at: String(target).slice(1) }))
}

/** Every answer that is described: `POST /path 200 text/html PasscodePage`. */
export function describedAnswers(description: Json): string[] {
  return operationsOf(description).flatMap(({ method, path, node }) =>
    Object.entries(child(node, 'responses')).flatMap(([status, answer]) => {
      const contents = Object.entries(child(answer as Json, 'content'))
      if (contents.length === 0) return [`${method} ${path} ${status}`]
      return contents.flatMap(([mediaType, content]) =>
        schemasOf(content as Json).map(({ name }) => `${method} ${path} ${status} ${mediaType} ${name}`),
      )
    }),
  )
}

/** Every body that is described: `POST /path application/json Refresh`. */
export function describedBodies(description: Json): string[] {
  return operationsOf(description).flatMap(({ method, path, node }) =>
    Object.entries(child(node, 'requestBody', 'content')).flatMap(([mediaType, content]) =>
      schemasOf(content as Json).map(({ name }) => `${method} ${path} ${mediaType} ${name}`),
    ),
  )
}
