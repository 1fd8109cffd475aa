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
  /** Submits the form, and types the passcode where one is asked for; the callback's address is what comes of it. */
  submit(page: LoginPage, identity: string, passcode?: string): Promise<URL>
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
    async submit({ address, hidden }, identity, passcode) {
      const post = async (fields: Readonly<Record<string, string>>): Promise<Response> =>
        person.send(address, { method: 'POST', body: new URLSearchParams(fields) })
      const answer = await post({ ...hidden, identity, credential: CREDENTIAL })
      if (answer.status !== 200 || passcode === undefined) return callbackOf(answer)
      const own = hiddenInputs(await answer.text())
      const { transaction_id = '' } = own
      const factors = new URL(`/oauth2/v3/authorize/mfa/factors?transaction_id=${transaction_id}`, address)
      const { data } = JSON.parse(await (await person.send(factors)).text())
      await person.send(new URL('/oauth2/v3/authorize/mfa/verify', address), {
        method: 'POST',
        body: JSON.stringify({ ...own, factor_id: data[0].id, passcode }),
        headers: { 'content-type': 'application/json' },
      })
      return callbackOf(await post(own))
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
