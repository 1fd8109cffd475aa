/**
 * The pages of a sign-in, in the portal's frame: e-mail and password, the passcode, and the way over the service's own page.
 */
import {
  csrfField,
  type Html,
  type Notice,
  noticeBox,
  passcodeCard,
  type PasscodeCard,
  servicePageCard,
  type ServicePageCard,
  signInCard,
  type SignInCard,
} from '@owner-sso/sign-in-pages'
import { html } from 'hono/html'
import { layout } from './layout.ts'

/** The demo accounts, where the portal runs against the emulator. */
interface WithDemo {
  readonly demo?: Html | undefined
}

export interface SignInPage extends Omit<SignInCard, 'base' | 'title'>, WithDemo {
  readonly news?: Notice | undefined
}

export function signInPage({ news, demo, ...page }: SignInPage): Html {
  const title = 'Sign in'
  return layout(
    { title, narrow: true },
    html`${noticeBox(news, 'good')}
    ${signInCard({ base: '', title, lead: 'With your vehicle owner account.', ...page })} ${demo}`,
  )
}

export interface PasscodePage extends Omit<PasscodeCard, 'base' | 'below'>, WithDemo {}

export function passcodePage({ demo, ...page }: PasscodePage): Html {
  const below = html`<form method="post" action="/sign-in/start-over">
    ${csrfField(page.csrfToken)}<button class="link small" type="submit">Start again with another account</button>
  </form>`
  return layout({ title: 'Passcode', narrow: true }, html`${passcodeCard({ base: '', below, ...page })} ${demo}`)
}

export interface BrowserSignInPage extends Omit<ServicePageCard, 'base'>, WithDemo {}

export function browserSignInPage({ demo, ...page }: BrowserSignInPage): Html {
  const title = 'Sign in on the service’s page'
  return layout({ title, narrow: true }, html`${servicePageCard({ base: '', ...page })} ${demo}`)
}
