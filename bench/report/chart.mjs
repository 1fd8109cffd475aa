/**
 * A chart of one table: a bar for each candidate, ours in a colour of their own, the floor a line, each budget a mark. One SVG for
 * light and dark, by the reader's own setting.
 */

const [width, left, right, top, step, bar] = [800, 300, 70, 34, 26, 14]

/**
 * @param title - above the bars
 * @param bars - `{ name, value, budget?, ours }`
 * @param floor - where the floor stands
 */
export function chart(title, bars, floor) {
  const most = Math.max(floor, ...bars.flatMap(({ value, budget = 0 }) => [value, budget])) || 1
  const x = (value) => rounded(left + ((width - left - right) * value) / most)
  const height = top + bars.length * step + 30
  const rows = bars.map(({ name, value, budget, ours }, index) => {
    const y = top + index * step
    const mark =
      budget === undefined
        ? ''
        : `<line class="budget" x1="${x(budget)}" x2="${x(budget)}" y1="${y - 3}" y2="${y + bar + 3}"/>`
    return `  <text class="name" x="${left - 10}" y="${y + 11}">${escaped(name)}</text>
  <rect class="${ours ? 'ours' : 'peer'}" x="${left}" y="${y}" width="${rounded(Math.max(x(value) - left, 1))}" height="${bar}" rx="2"/>
  <text class="value" x="${rounded(Math.max(x(value), x(budget ?? 0)) + 8)}" y="${y + 11}">${value}</text>${mark}`
  })
  const foot = height - 12
  return framed(
    title,
    height,
    `${rows.join('\n')}
  <line class="floor" x1="${x(floor)}" x2="${x(floor)}" y1="${top - 6}" y2="${height - 26}"/>
  <text class="legend" x="${left}" y="${foot}">shorter is better · dashed: the floor · red: the budget · blue: owner-sso</text>`,
  )
}

/**
 * A curve: what a cost is as its work grows, over a logarithmic axis. Flat is good.
 *
 * @param points - `{ size, ratio }`, by size
 */
export function curve(title, points) {
  const [first, last] = [points[0].size, points.at(-1).size]
  const most = Math.max(1, ...points.map(({ ratio }) => ratio))
  const x = (size) => rounded(60 + (660 * Math.log(size / first)) / Math.log(last / first))
  const y = (value) => rounded(190 - (130 * value) / most)
  const marks = points.map(
    ({ size, ratio }) => `  <circle class="ours" cx="${x(size)}" cy="${y(ratio)}" r="4"/>
  <text class="value" text-anchor="middle" x="${x(size)}" y="${y(ratio) - 10}">${ratio}</text>
  <text class="legend" text-anchor="middle" x="${x(size)}" y="210">${size.toLocaleString('en')}</text>`,
  )
  const line = points.map(({ size, ratio }) => `${x(size)},${y(ratio)}`).join(' ')
  return framed(
    title,
    225,
    `  <polyline fill="none" stroke="#0969da" stroke-width="2" points="${line}"/>
${marks.join('\n')}
  <line class="floor" x1="40" x2="740" y1="${y(1)}" y2="${y(1)}"/>`,
  )
}

function framed(title, height, content) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
  <style>
    svg { background: #ffffff; font: 12px system-ui, sans-serif; }
    text { fill: #1f2328; } .title { font-weight: 600; } .name { text-anchor: end; } .legend { fill: #59636e; }
    .ours { fill: #0969da; } .peer { fill: #afb8c1; } .floor { stroke: #59636e; stroke-dasharray: 3 3; } .budget { stroke: #cf222e; stroke-width: 3; }
    @media (prefers-color-scheme: dark) {
      svg { background: #0d1117; } text { fill: #f0f6fc; } .legend { fill: #9198a1; }
      .ours { fill: #4493f8; } .peer { fill: #656c76; } .floor { stroke: #9198a1; } .budget { stroke: #ff7b72; }
    }
  </style>
  <text class="title" x="10" y="18">${escaped(title)}</text>
${content}
</svg>
`
}

const rounded = (value) => Math.round(value * 10) / 10

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
