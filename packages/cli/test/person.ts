/** A person with a browser of their own, at the service's pages. */
import * as cheerio from 'cheerio/slim'

/** Opens the address, signs in there, and gives back the address of the page that the browser ends on. */
export async function addressAfterSignIn(url: string, identity: string, credential: string): Promise<string> {
  const page = await fetch(url)
  const $ = cheerio.load(await page.text())
  const form = new URLSearchParams({ identity, credential })
  for (const input of $('form input[type=hidden]:not([disabled])')) {
    form.append($(input).attr('name') ?? '', $(input).attr('value') ?? '')
  }
  const cookie = page.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const address = new URL(page.url)
  address.searchParams.delete('login_hint')
  const answer = await fetch(address, { method: 'POST', body: form, headers: { cookie }, redirect: 'manual' })
  return answer.headers.get('location') ?? ''
}
