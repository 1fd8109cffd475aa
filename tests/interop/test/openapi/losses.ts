/** A description that lost something, for each thing that it can lose. */
import type { Json } from './description.ts'

export interface Loss {
  readonly name: string
  readonly description: Json
}

/** Each field, parameter, header, status, media type, alternative and allowed word in turn. */
export function losses(description: Json): Loss[] {
  return placesOf(description, []).map((place) => ({ name: place.join(' '), description: without(description, place) }))
}

type Place = readonly string[]

function isRequired({ required }: Json, name: string): boolean {
  return Array.isArray(required) && required.includes(name)
}

function placesOf(node: unknown, at: Place, owner: Json = {}): Place[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, value]) => {
    const place = [...at, name]
    return [...(isLosable(node, owner, place) ? [place] : []), ...placesOf(value, place, node as Json)]
  })
}

function isLosable(parent: object, owner: Json, place: Place): boolean {
  const [kind, name = ''] = place.slice(-2)
  // Where a service accepts any field more, one that may be missing can't be missed.
  if (kind === 'properties') return owner['additionalProperties'] === false || isRequired(owner, name)
  // The redirect URIs that are registered are not all used.
  if (kind === 'enum') return Array.isArray(parent) && !place.includes('redirect_uri')
  if (kind === 'anyOf') return !place.includes('not')
  return (
    ['parameters', 'headers', 'responses', 'content'].includes(kind ?? '') &&
    !place.includes('components') &&
    name !== ''
  )
}

function without(description: Json, place: Place): Json {
  const copy = structuredClone(description)
  const at = (path: Place): Record<string, unknown> =>
    path.reduce<Record<string, unknown>>((node, step) => Object(node[step]), copy)
  const name = place.at(-1) ?? ''
  const parent = at(place.slice(0, -1))
  const owner = at(place.slice(0, -2))
  if (isRequired(owner, name)) owner['required'] = [owner['required']].flat().filter((own) => own !== name)
  if (Array.isArray(parent)) parent.splice(Number(name), 1)
  else Reflect.deleteProperty(parent, name)
  return copy
}
