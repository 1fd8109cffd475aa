/**
 * What the sign-in window shows before it closes.
 */

export const signedInPage: string = page('You are signed in', 'This window closes by itself. Go on in the terminal.')

export const notSignedInPage: string = page(
  'You are not signed in',
  'Nothing was stored. The terminal says why; this window closes by itself.',
)

function page(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <style>
    :root { color-scheme: light dark; font: 18px/1.5 system-ui, sans-serif }
    body { display: grid; min-height: 90vh; place-content: center; text-align: center; padding: 0 1rem; background: #f5f4f0; color: #1d2321 }
    @media (prefers-color-scheme: dark) { body { background: #131716; color: #ecefec } }
    h1 { font-size: 1.6rem; margin: 0 }
  </style>
  <main>
    <h1>${title}</h1>
    <p>${text}</p>
  </main>
</html>`
}
