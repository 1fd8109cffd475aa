/** A person at a browser, as far as it matters here: cookies are kept, the form of a page is filled in and submitted. */

export interface LoginPage {
  /** Where the form is posted to: the page's own address, without the `login_hint`. */
  readonly address: URL
  readonly hidden: Readonly<Record<string, string>>
}

export interface Person {
  /** One request with the cookies so far; no redirect is followed. */
  send(address: URL | string, init?: RequestInit): Promise<Response>
  /** Opens the login page of an account, where its region has it. */
  open(url: URL, identity: string): Promise<LoginPage>
  /** Submits the form; the callback's address is what comes of it. */
  submit(page: LoginPage, identity: string): Promise<URL>
}

export const CREDENTIAL = 'correct horse'

export function createPerson(): Person {
  const cookies = new Map<string, string>()
  const person: Person = {
    async send(address, init = {}) {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
      const headers = { cookie, ...Object.fromEntries(new Headers(init.headers)) }
      const answer = await fetch(address, { redirect: 'manual', ...init, headers })
      for (const line of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split(/=(.*)/su)
        cookies.set(name, value)
      }
      return answer
    },
    async open(url, identity) {
      const hinted = new URL(url)
      hinted.searchParams.set('login_hint', identity)
      const first = await person.send(hinted)
      const page = first.status === 303 ? await person.send(first.headers.get('location') ?? '') : first
      const address = new URL(page.url)
      address.searchParams.delete('login_hint')
      return { address, hidden: hiddenInputs(await page.text()) }
    },
    async submit({ address, hidden }, identity) {
      const body = new URLSearchParams({ ...hidden, identity, credential: CREDENTIAL })
      const answer = await person.send(address, { method: 'POST', body })
      return callbackOf(answer)
    },
  }
  return person
}

function callbackOf(answer: Response): URL {
  return new URL(answer.headers.get('location') ?? 'none:')
}

/** Those of the form that are not switched off, decoded as a browser does. */
export function hiddenInputs(page: string): Record<string, string> {
  const form = page.slice(page.indexOf('<form'))
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)" \/>/gu)]
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, decoded(value)]))
}

const NAMED = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
])

function decoded(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]+)|(\w+));/gu, (_match, hex?: string, name?: string) =>
    hex === undefined ? (NAMED.get(name ?? '') ?? '') : String.fromCodePoint(Number.parseInt(hex, 16)),
  )
}
