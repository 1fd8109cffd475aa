/**
 * A screen of its own in the terminal, which is drawn again and again and gone at the end (ECMA-48, and xterm's alternate
 * screen). Each drawing is one write over the one before, so that nothing flickers.
 */
import { type Line, renderedLines } from '../terminal/output.ts'

const escape = '\u001B['
/** The alternate screen, without a cursor, where long lines are cut off. */
const begin = `${escape}?1049h${escape}?25l${escape}?7l`
const end = `${escape}?7h${escape}?25h${escape}?1049l`
const toTop = `${escape}H`
const toLineEnd = `${escape}K`
const toScreenEnd = `${escape}J`

export interface LiveScreen extends Disposable {
  readonly draw: (lines: readonly Line[]) => void
}

export function liveScreen(terminal: NodeJS.WriteStream): LiveScreen {
  terminal.write(begin)
  return {
    draw(lines) {
      const rows = renderedLines(lines, 'stdout').slice(0, terminal.rows - 1)
      terminal.write(`${toTop}${rows.map((row) => `${row}${toLineEnd}\n`).join('')}${toScreenEnd}`)
    },
    [Symbol.dispose]: () => void terminal.write(end),
  }
}
