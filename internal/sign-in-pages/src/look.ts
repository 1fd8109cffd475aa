/**
 * The look of every page: one calm palette in light and dark, one column that fits a phone.
 */

export const look: string = `
:root {
  color-scheme: light dark;
  --canvas: #f5f4f0; --card: #fff; --sunken: #f0efe9; --line: #e2e0d8; --field-line: #85857c;
  --ink: #1d2321; --quiet: #5a625e;
  --accent: #2a6a5d; --accent-strong: #215449; --on-accent: #fff; --accent-soft: #e3efeb;
  --bad: #9f2d20; --bad-soft: #fbebe7; --bad-line: #e9bdb4; --warm: #7a5200; --warm-soft: #fbf2dc; --warm-line: #e8d5a5;
  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'Liberation Mono', monospace;
  --shadow: 0 1px 2px rgb(30 35 30 / 6%), 0 8px 28px rgb(30 35 30 / 6%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --canvas: #131716; --card: #1c2220; --sunken: #252c29; --line: #303835; --field-line: #7d8984;
    --ink: #ecefec; --quiet: #a5b0ab;
    --accent: #7cc7b5; --accent-strong: #9ad8c9; --on-accent: #0e1d19; --accent-soft: #20352f;
    --bad: #ffb0a2; --bad-soft: #3a211d; --bad-line: #6b392f; --warm: #f0cd85; --warm-soft: #332a17; --warm-line: #5c4b25;
    --shadow: 0 1px 2px rgb(0 0 0 / 30%);
  }
}

*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
/* Unlike break-word, anywhere lets a column shrink around a long address. */
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; background: var(--canvas); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif;
}
h1, h2, p, ul, ol, dl, dd, pre, fieldset { margin: 0; padding: 0; }
h1 { font-size: 1.6rem; line-height: 1.25; letter-spacing: -0.015em; font-weight: 650; }
h2 { font-size: 1.075rem; line-height: 1.35; font-weight: 650; }
a { color: var(--accent); text-underline-offset: 0.18em; }
a:hover { color: var(--accent-strong); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
code { font-family: var(--mono); font-size: 0.925em; font-variant-numeric: tabular-nums; }
.quiet { color: var(--quiet); }
.small { font-size: 0.9rem; }
.skip { position: absolute; left: 1rem; top: -4rem; padding: 0.5rem 0.9rem; border-radius: 8px; background: var(--card); }
.skip:focus { top: 0.75rem; }

/* Header and columns */
.top {
  display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1rem;
  width: 100%; max-width: 62rem; margin: 0 auto; padding: 1.1rem 1.25rem;
}
.brand { display: flex; align-items: center; gap: 0.6rem; color: var(--ink); font-weight: 650; text-decoration: none; }
.brand img { display: block; width: 1.9rem; height: 1.9rem; }
.column {
  display: grid; gap: 1.25rem; align-content: start; width: 100%; max-width: 62rem; margin: 0 auto;
  padding: 0.75rem 1.25rem 3rem;
}
.narrow { max-width: 29.5rem; padding-top: clamp(0.75rem, 5vh, 3.5rem); }
.card {
  display: grid; gap: 1.1rem; align-content: start; min-width: 0; padding: 1.5rem;
  border: 1px solid var(--line); border-radius: 16px; background: var(--card); box-shadow: var(--shadow);
}
.narrow .card { padding: clamp(1.25rem, 5vw, 2rem); }
.lead { display: grid; gap: 0.5rem; }
.between { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0.25rem 1rem; }

/* Forms */
form { display: grid; gap: 1.1rem; }
.field { display: grid; gap: 0.4rem; }
label, legend { font-weight: 600; font-size: 0.95rem; }
legend { padding: 0; margin-bottom: 0.4rem; }
fieldset { border: 0; min-width: 0; }
.input {
  width: 100%; min-height: 3rem; padding: 0.65rem 0.85rem; border: 1px solid var(--field-line); border-radius: 10px;
  background: var(--card); color: var(--ink); font: inherit;
}
textarea.input { min-height: 6rem; resize: vertical; }
.input[aria-invalid='true'] { border-color: var(--bad); border-width: 2px; }
.input.code { max-width: 12rem; font-family: var(--mono); font-size: 1.35rem; letter-spacing: 0.12em; }
.complaint { color: var(--bad); font-size: 0.925rem; }
.choice {
  display: flex; align-items: center; gap: 0.7rem; min-height: 3rem; padding: 0.5rem 0.85rem;
  border: 1px solid var(--line); border-radius: 10px; font-weight: 500; cursor: pointer;
}
.choice + .choice { margin-top: 0.5rem; }
.choice:has(:checked) { border-color: var(--accent); background: var(--accent-soft); }
.choice input { flex: none; width: 1.15rem; height: 1.15rem; margin: 0; accent-color: var(--accent); }
.button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 3rem; padding: 0.6rem 1.3rem;
  border: 1px solid transparent; border-radius: 10px; background: var(--accent); color: var(--on-accent);
  font: inherit; font-weight: 600; text-decoration: none; cursor: pointer;
}
.button:hover { background: var(--accent-strong); color: var(--on-accent); }
.button.plain { border-color: var(--line); background: transparent; color: var(--ink); }
.button.plain:hover { border-color: var(--field-line); background: var(--sunken); }
.button[hidden] { display: none; }
.button.small { min-height: 2.5rem; padding: 0.35rem 0.95rem; }
.link {
  justify-self: start; padding: 0; border: 0; background: none; color: var(--accent); font: inherit; font-size: 0.9rem;
  text-decoration: underline; text-underline-offset: 0.18em; cursor: pointer;
}
details { border-top: 1px solid var(--line); padding-top: 1rem; }
summary { width: fit-content; color: var(--accent); font-size: 0.95rem; font-weight: 600; cursor: pointer; }
details[open] summary { margin-bottom: 0.9rem; }
.steps { display: grid; gap: 1.4rem; list-style: none; counter-reset: step; }
.steps > li { display: grid; gap: 0.6rem; justify-items: start; counter-increment: step; }
.steps > li > form { width: 100%; }
.steps h2::before {
  content: counter(step); display: inline-grid; place-items: center; width: 1.6rem; height: 1.6rem; margin-right: 0.6rem;
  border-radius: 50%; background: var(--accent-soft); color: var(--accent); font-size: 0.9rem;
}

/* What happened, and how something stands */
.notice {
  display: grid; gap: 0.2rem; padding: 0.8rem 1rem; border: 1px solid var(--line); border-radius: 12px;
  background: var(--accent-soft); font-size: 0.975rem;
}
.notice strong { font-weight: 650; }
.notice.bad { border-color: var(--bad-line); background: var(--bad-soft); }
.notice.bad strong { color: var(--bad); }
.pill {
  flex: none; padding: 0.15rem 0.7rem; border-radius: 999px; background: var(--sunken); color: var(--quiet);
  font-size: 0.85rem; font-weight: 600;
}
.pill.good { background: var(--accent-soft); color: var(--accent); }
.pill.poor { background: var(--bad-soft); color: var(--bad); }
progress {
  appearance: none; display: block; width: 100%; height: 0.6rem; border: 0; border-radius: 999px; background: var(--sunken);
  overflow: hidden;
}
progress::-webkit-progress-bar { background: var(--sunken); }
progress::-webkit-progress-value { border-radius: 999px; background: var(--accent); }
progress::-moz-progress-bar { border-radius: 999px; background: var(--accent); }

@media (max-width: 30rem) {
  .card { padding: 1.25rem; }
  .narrow .button:not(.small) { width: 100%; }
}
`
