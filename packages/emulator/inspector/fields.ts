/**
 * Values of an exchange as a flat list of names and texts: `data.valid`, `set-cookie.2`.
 */

export function entriesOf(side: object | undefined, part: string): [name: string, value: string][] {
  const values: unknown = side && Reflect.get(side, part)
  return flattened(values, '')
}

function flattened(value: unknown, name: string): [string, string][] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
      flattened(inner, name === '' ? key : `${name}.${key}`),
    )
  }
  if (name === '' || value === undefined) return []
  return [[name, typeof value === 'string' ? value : JSON.stringify(value)]]
}
