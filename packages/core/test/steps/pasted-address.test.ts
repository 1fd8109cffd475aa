import { describe, expect, it } from '@jest/globals'
import { pastedAddress } from '../../src/index.ts'

const redirectUri = 'example://auth/callback'
const address = `${redirectUri}?code=c0de_1.x~y&state=a-b&issuer=https%3A%2F%2Fauth.example.com%2Foauth2%2Fv3`

describe('The address that a login ends on is found in what people paste', () => {
  it.each<[string, string]>([
    ['alone', address],
    ['with spaces and lines around it', `\n  ${address} \r\n`],
    ['in Chrome’s console', `Failed to launch '${address}' because the scheme does not have a registered handler.`],
    ['in Firefox’s console', `Prevented navigation to “${address}” due to an unknown protocol.`],
    ['in German quotation marks', `Die Adresse „${address}“ wurde nicht verstanden`],
    ['in French ones', `« ${address} » n’a pas pu être ouvert`],
    ['in Chinese brackets', `无法打开「${address}」。`],
    ['in straight quotation marks', `"${address}"`],
    ['in angle brackets', `<${address}>`],
    ['in a Markdown link', `[link](${address})`],
    ['in JSON', `{"location":"${address}"}`],
    ['as a header', `Location: ${address}\nServer: x`],
    ['with a word behind it', `${address} (canceled)`],
    ['at the end of a sentence', `It says ${address}.`],
    ['from the source of a page', `<a href="${address.replaceAll('&', '&amp;')}">here</a>`],
    ['over several lines of a terminal', address.replaceAll(/(.{30})/gu, '$1\n')],
    ['over several lines, indented', address.replaceAll(/(.{40})/gu, '$1\r\n    ')],
    [
      'over several lines within quotation marks',
      `Failed to launch '${address.replace('&state', '\n&state')}' because`,
    ],
    [
      'over two lines that break in the issuer, within quotation marks',
      `Failed to launch '${address.replace('auth.', 'auth.\n')}' because`,
    ],
    [
      'in JSON whose signs are escaped',
      `{"location":"${address.replaceAll('&', String.raw`\u0026`).replaceAll('/', String.raw`\/`)}"}`,
    ],
    ['for a shell', `xdg-open ${address.replaceAll(/[?&]/gu, String.raw`\$&`)}`],
    ['with characters that nobody sees', `\u202A${address.replace('&', '\u200B&')}\u202C\u200B`],
    ['at the end of a Chinese sentence', `${address}。`],
    ['in bold', `**${address}**`],
    ['from a source that was escaped twice', address.replaceAll('&', '&amp;amp;')],
    ['with lines of something else below', `${address}\nNavigated to chrome-error\nDone`],
    ['in a line that begins with capitals', `FAILED '${address.replace('example:', 'Example:')}'`],
    ['with more parameters', `'${address}&locale=en-US'`],
  ])('%s', (_, text) => {
    const more = text.includes('locale') ? '&locale=en-US' : ''
    expect(pastedAddress(text, redirectUri)).toBe(address + more)
  })

  it.each([
    '',
    '  no address  ',
    'https://auth.example.com/?code=x',
    'example://auth/callback',
    'example://auth/callback2?code=x',
  ])('%j, which has none, is only trimmed', (text) => expect(pastedAddress(text, redirectUri)).toBe(text.trim()))

  it('finds an address on the web as well', () => {
    const onWeb = address.replace('example:/', 'https://auth.example.com')
    expect(pastedAddress(`(${onWeb})`, 'https://auth.example.com/auth/callback')).toBe(onWeb)
  })
})
