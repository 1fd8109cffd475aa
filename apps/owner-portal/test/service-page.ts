/** A person's browser at the service's own page, as far as one sign-in needs it: one form, its cookies, one redirect. */
import { load } from 'cheerio'
import { credential } from './portal-under-test.ts'

/** Signs in at the link and returns the address that the browser ends on. */
export async function signInThere(link: string, identity: string): Promise<string> {
  const page = await fetch(link, { redirect: 'manual' })
  const $ = load(await page.text())
  const fields = new URLSearchParams()
  for (const { name, value } of $('form').first().serializeArray()) fields.append(name, value)
  fields.set('identity', identity)
  fields.set('credential', credential)
  const cookie = page.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  const action = new URL($('form').first().attr('action') ?? '', link)
  const answer = await fetch(action, { method: 'POST', body: fields, headers: { cookie }, redirect: 'manual' })
  const location = answer.headers.get('location')
  if (location === null) throw new Error(`The service answered ${answer.status} without a redirect.`)
  return location
}
