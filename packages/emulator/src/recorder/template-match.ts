/**
 * Whether what a client sent is what a template of the fixture stands for, and what its placeholders stand for then.
 */
import { onlyPlaceholder, parseTemplate, spell, type Placeholder } from './placeholders.ts'

/** What each placeholder stands for in this run of the recording. */
export type Bindings = Map<string, string>

/** Whether the text fits; placeholders that stood for nothing yet stand for their part of it from now on. */
export function fits(template: string, text: string, bindings: Bindings): boolean {
  const whole = onlyPlaceholder(template)
  if (whole) return fitsPlaceholder(whole.name, text, bindings)
  const parts = parseTemplate(template)
  const unbound = parts.filter((part): part is Placeholder => typeof part === 'object' && !bindings.has(part.name))
  const pattern = parts.map((part) => {
    if (typeof part === 'string') return escaped(part)
    const value = bindings.get(part.name)
    return value === undefined ? '(.*?)' : escaped(spell(value, part.spelling))
  })
  const found = new RegExp(`^${pattern.join('')}$`, 'su').exec(text)
  if (!found) return false
  return unbound.every(({ name, spelling }, index) => {
    const part = found[index + 1] ?? ''
    return fitsPlaceholder(name, spelling === 'url' ? decoded(part) : part, bindings)
  })
}

function fitsPlaceholder(name: string, text: string, bindings: Bindings): boolean {
  const bound = bindings.get(name)
  if (bound === undefined) {
    bindings.set(name, text)
    return true
  }
  // The same address in other letters is the same account.
  return bound === text || (bound.includes('@') && bound.toLowerCase() === text.toLowerCase())
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/gu, String.raw`\$&`)
}
