import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { encodeText, html } from '../../src/pages/html.ts'

describe('html', () => {
  it('encodes text and leaves markup alone', () => {
    const inner = html`<b>${'<&>'}</b>`
    expect(html`<p title="${'"'}">${inner}${[inner, inner]}${false}${7}</p>`.markup).toBe(
      `<p title="&quot;">${'<b>&lt;&amp;&gt;</b>'.repeat(3)}7</p>`,
    )
  })

  it('lets no text out of an attribute or element', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(encodeText(text)).not.toMatch(/["'<>`=]|&(?!(?:#x[\da-f]+|amp|lt|gt|quot);)/u)
      }),
    )
  })
})
