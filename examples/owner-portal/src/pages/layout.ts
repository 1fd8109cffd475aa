/**
 * The portal's frame around every page, and its style sheet.
 */
import { frame, type Frame, type Html, look } from '@owner-sso/sign-in-pages'

/** A whole document around `content`. */
export function layout(page: Pick<Frame, 'title' | 'narrow' | 'aside'>, content: Html): Html {
  return frame({ site: 'Owner portal', home: '/', assets: '/assets', ...page }, content)
}

/** What all pages share, and the portal's own: the vehicles, the token's card, the demo's box. */
export const style: string = `${look}
.who { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem 0.9rem; min-width: 0; }
.panels { display: grid; gap: 1.25rem; align-items: start; }
.vehicles { display: grid; gap: 0.75rem; list-style: none; }
.vehicle {
  display: grid; grid-template: 'icon name pill' auto 'icon vin pill' auto / auto minmax(0, 1fr) auto; align-items: center;
  column-gap: 1rem; padding: 0.95rem 1.05rem; border: 1px solid var(--line); border-radius: 12px;
}
.vehicle svg {
  grid-area: icon; width: 2.75rem; height: 2.75rem; padding: 0.55rem; border-radius: 50%;
  background: var(--accent-soft); color: var(--accent);
}
.vehicle strong { grid-area: name; font-weight: 620; }
.vehicle .small { grid-area: vin; }
.vehicle .pill { grid-area: pill; }
.time-left { font-size: 1.5rem; font-weight: 650; letter-spacing: -0.015em; line-height: 1.25; }

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
