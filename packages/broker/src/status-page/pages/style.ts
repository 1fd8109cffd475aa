/**
 * The page's whole look and its icon: one calm palette in light and dark, one column that fits a phone.
 */

export const icon: string = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#2f6f62"/><g fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round"><circle cx="16" cy="16" r="3.4"/><path d="M16 12.6V7M18.9 17.7l4.9 2.8M13.1 17.7l-4.9 2.8"/></g></svg>`

export const style: string = `
:root {
  color-scheme: light dark;
  --canvas: #f5f4f0; --card: #fff; --sunken: #f0efe9; --line: #e2e0d8; --field: #85857c;
  --ink: #1d2321; --quiet: #5a625e; --accent: #2a6a5d; --strong: #215449; --on: #fff; --soft: #e3efeb;
  --bad: #9f2d20; --bad-soft: #fbebe7; --shadow: 0 1px 2px rgb(30 35 30 / 6%), 0 8px 28px rgb(30 35 30 / 6%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --canvas: #131716; --card: #1c2220; --sunken: #252c29; --line: #303835; --field: #7d8984;
    --ink: #ecefec; --quiet: #a5b0ab; --accent: #7cc7b5; --strong: #9ad8c9; --on: #0e1d19; --soft: #20352f;
    --bad: #ffb0a2; --bad-soft: #3a211d; --shadow: 0 1px 2px rgb(0 0 0 / 30%);
  }
}
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0; min-height: 100dvh; background: var(--canvas); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif;
}
h1, h2, p, ul, ol, pre, fieldset { margin: 0; padding: 0; }
h1, h2 { font-weight: 650; line-height: 1.3; letter-spacing: -0.01em; }
h1 { font-size: 1.45rem; }
h2 { font-size: 1.15rem; }
a { color: var(--accent); text-underline-offset: 0.18em; }
a:hover { color: var(--strong); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code { font-family: ui-monospace, Menlo, Consolas, 'Liberation Mono', monospace; font-size: 0.92em; }
pre { padding: 0.7rem 0.9rem; border-radius: 10px; background: var(--sunken); white-space: pre-wrap; }
.quiet { color: var(--quiet); }
.small { font-size: 0.9rem; }
.top, main { width: 100%; max-width: 56rem; margin: 0 auto; padding: 1.1rem 1.25rem; }
.top, .between { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0.3rem 1rem; }
.top { align-items: center; }
.brand { display: flex; align-items: center; gap: 0.6rem; color: var(--ink); font-weight: 650; text-decoration: none; }
main { display: grid; gap: 1.25rem; padding-top: 0.5rem; padding-bottom: 3rem; }
.card {
  display: grid; gap: 1.1rem; min-width: 0; padding: clamp(1.1rem, 4vw, 1.6rem);
  border: 1px solid var(--line); border-radius: 16px; background: var(--card); box-shadow: var(--shadow);
}
.narrow { width: 100%; max-width: 29.5rem; margin: clamp(0.5rem, 4vh, 3rem) auto 0; }
.rows { display: grid; list-style: none; }
.rows > li { display: grid; gap: 0.45rem; padding: 0.9rem 0; border-top: 1px solid var(--line); }
.rows > li:last-child { padding-bottom: 0; }
.pill { padding: 0.1rem 0.7rem; border-radius: 999px; background: var(--sunken); color: var(--quiet); font-size: 0.85rem; font-weight: 600; }
.pill.good { background: var(--soft); color: var(--accent); }
.pill.poor { background: var(--bad-soft); color: var(--bad); }
progress { appearance: none; display: block; width: 100%; height: 0.55rem; border: 0; border-radius: 999px; background: var(--sunken); overflow: hidden; }
progress::-webkit-progress-bar { background: var(--sunken); }
progress::-webkit-progress-value { border-radius: 999px; background: var(--accent); }
progress::-moz-progress-bar { border-radius: 999px; background: var(--accent); }
.notice { padding: 0.7rem 1rem; border-radius: 12px; background: var(--soft); }
.notice.bad { background: var(--bad-soft); color: var(--bad); }
table { width: 100%; border-collapse: collapse; font-size: 0.95rem; }
th, td { padding: 0.6rem 1rem 0.6rem 0; text-align: left; font-weight: inherit; border-top: 1px solid var(--line); }
thead th { border: 0; color: var(--quiet); font-size: 0.85rem; white-space: nowrap; }
td:first-of-type { min-width: 11rem; }
tbody th { font-weight: 620; }
@media (max-width: 44rem) {
  thead { display: none; }
  tr { display: grid; gap: 0.15rem; padding: 0.8rem 0; border-top: 1px solid var(--line); }
  tr:last-child { padding-bottom: 0; }
  th, td, td:first-of-type { display: flex; min-width: 0; justify-content: space-between; gap: 1rem; padding: 0; border: 0; text-align: right; }
  td::before { content: attr(data-label); color: var(--quiet); white-space: nowrap; }
}
form { display: grid; gap: 0.5rem; }
label, legend { padding: 0; font-weight: 600; font-size: 0.95rem; }
fieldset { display: grid; gap: 0.5rem; border: 0; min-width: 0; }
legend { margin-bottom: 0.4rem; }
.input {
  width: 100%; min-height: 3rem; padding: 0.6rem 0.85rem; margin-bottom: 0.6rem; border: 1px solid var(--field);
  border-radius: 10px; background: var(--card); color: var(--ink); font: inherit;
}
.input.code { font-family: ui-monospace, Menlo, Consolas, 'Liberation Mono', monospace; font-size: 1.25rem; letter-spacing: 0.12em; }
.choice { display: flex; align-items: center; gap: 0.7rem; min-height: 3rem; padding: 0.4rem 0.85rem; border: 1px solid var(--line); border-radius: 10px; font-weight: 500; }
.choice:has(:checked) { border-color: var(--accent); background: var(--soft); }
.choice input { width: 1.15rem; height: 1.15rem; margin: 0; accent-color: var(--accent); }
.button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 2.9rem; padding: 0.5rem 1.3rem;
  border: 0; border-radius: 10px; background: var(--accent); color: var(--on); font: inherit; font-weight: 600;
  text-decoration: none; cursor: pointer;
}
.button:hover { background: var(--strong); color: var(--on); }
.link { padding: 0; border: 0; background: none; color: var(--accent); font: inherit; font-size: 0.95rem; text-decoration: underline; text-underline-offset: 0.18em; cursor: pointer; }
.steps { display: grid; gap: 1.2rem; padding-left: 1.3rem; }
.steps .button { display: flex; width: fit-content; }
`
