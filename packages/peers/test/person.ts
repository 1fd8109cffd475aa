/** A person at the login page: opens it, goes where it leads, submits its form, and keeps the address that comes of it. */

/** The callback's address. */
export async function submitLoginForm(url: URL, identity: string): Promise<URL> {
  const cookies = new Map<string, string>()
  const open = async (address: URL | string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const answer = await fetch(address, { redirect: 'manual', ...init, headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split(/=(.*)/su)
      cookies.set(name, value)
    }
    return answer
  }

  const hinted = new URL(url)
  hinted.searchParams.set('login_hint', identity)
  const first = await open(hinted)
  const page = first.status === 303 ? await open(first.headers.get('location') ?? '') : first
  const form = new URLSearchParams({ ...hiddenInputs(await page.text()), identity, credential: 'correct horse' })
  const address = new URL(page.url)
  address.searchParams.delete('login_hint')
  const answer = await open(address, { method: 'POST', body: form })
  return new URL(answer.headers.get('location') ?? '')
}

/** Those of the form, decoded as a browser does. */
function hiddenInputs(page: string): Record<string, string> {
  const form = page.slice(page.indexOf('<form'))
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)" \/>/gu)]
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, decoded(value)]))
}

function decoded(text: string): string {
  const named = new Map([
    ['amp', '&'],
    ['lt', '<'],
    ['gt', '>'],
    ['quot', '"'],
  ])
  return text.replaceAll(/&(?:#x([0-9a-f]+)|(\w+));/gu, (_match, hex?: string, name?: string) =>
    hex === undefined ? (named.get(name ?? '') ?? '') : String.fromCodePoint(Number.parseInt(hex, 16)),
  )
}
