/**
 * The portal's frame around every page, with the corner of who is signed in, and its style sheet.
 */
import { html } from 'hono/html'
import { csrfField, frame, type Frame, type Html, look } from '@owner-sso/sign-in-pages'

/** A whole document around `content`. */
export function layout(page: Pick<Frame, 'title' | 'narrow' | 'aside'>, content: Html): Html {
  return frame({ site: 'Owner portal', home: '/', assets: '/assets', ...page }, content)
}

/** Who is signed in, and the way out. */
export function accountAside(account: string, csrfToken: string): Html {
  return html`<div class="who">
    <span class="quiet small">${account}</span>
    <form method="post" action="/sign-out">
      ${csrfField(csrfToken)}<button class="button plain small" type="submit">Sign out</button>
    </form>
  </div>`
}

/** What all pages share, and the portal's own: the vehicles, the token's card, the demo's box. */
export const style: string = `${look}
.who { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem 0.9rem; min-width: 0; }
.panels { display: grid; gap: 1.25rem; align-items: start; }
.vehicles { display: grid; gap: 0.75rem; list-style: none; }
.vehicle {
  display: grid; grid-template: 'icon name pill' auto 'icon vin pill' auto / auto minmax(0, 1fr) auto; align-items: center;
  column-gap: 1rem; padding: 0.95rem 1.05rem; border: 1px solid var(--line); border-radius: 12px; color: inherit;
  text-decoration: none;
}
a.vehicle:hover { border-color: var(--accent); color: inherit; }
.vehicle svg {
  grid-area: icon; width: 2.75rem; height: 2.75rem; padding: 0.55rem; border-radius: 50%;
  background: var(--accent-soft); color: var(--accent);
}
.vehicle strong { grid-area: name; font-weight: 620; }
.vehicle .small { grid-area: vin; }
.vehicle .pill { grid-area: pill; }
.time-left { font-size: 1.5rem; font-weight: 650; letter-spacing: -0.015em; line-height: 1.25; }
.facts { display: grid; gap: 0.65rem; }
.facts > div {
  display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding-bottom: 0.65rem;
  border-bottom: 1px solid var(--line);
}
.facts > div:last-child { padding-bottom: 0; border-bottom: 0; }
.facts dt { color: var(--quiet); }

.demo {
  display: grid; gap: 0.7rem; padding: 1.1rem 1.25rem; border: 1px dashed var(--warm-line); border-radius: 14px;
  background: var(--warm-soft); font-size: 0.925rem;
}
.demo h2 { color: var(--warm); font-size: 0.975rem; }
.demo ul { display: grid; gap: 0.55rem; list-style: none; }
.demo li { display: grid; }
.demo strong { font-weight: 650; }

@media (min-width: 52rem) {
  .panels { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
}
@media (max-width: 30rem) {
  .who { flex: 1 0 100%; justify-content: space-between; }
  .vehicle { grid-template-areas: 'icon name pill' 'icon vin vin'; column-gap: 0.8rem; padding: 0.8rem 0.85rem; }
}
`
