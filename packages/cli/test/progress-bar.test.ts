/** The bar of long work: when it is drawn, what it says, and that it leaves nothing behind. */
import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { progressBar, progressLine } from '../src/terminal/progress-bar.ts'

/** A screen that keeps what was written on it, and a clock that is set by hand. */
function stage(isTTY: boolean, columns = 80) {
  const written: string[] = []
  const time = { now: 5000 }
  const screen = { isTTY, columns, write: (text: string) => written.push(text) > 0 }
  const bar = (total?: number) => progressBar('Copying', total, screen, () => time.now)
  return { written, time, bar }
}

it('shows the bar, the count and the time left once the work has taken a second, and at most ten times in each', () => {
  const { written, time, bar } = stage(true)
  const copying = bar(100)
  for (let done = 0; done < 50; done += 1) {
    time.now += 40
    copying.advance()
  }
  expect(written[0]).toBe(`\r\u001b[2KCopying  ${'█'.repeat(6)}${'░'.repeat(18)}  25 of 100, 3 s left`)
  expect(written).toHaveLength(9)
  copying.end()
  expect(written.at(-1)).toBe('\r\u001b[2K')
})

it('shows the count alone where nobody knows how many there are', () => {
  const { written, time, bar } = stage(true)
  const copying = bar()
  time.now += 1000
  copying.advance()
  expect(written).toEqual(['\r\u001b[2KCopying  1'])
})

it('writes nothing for work that is done within a second, nor where the output is piped', () => {
  const [quick, piped] = [stage(true), stage(false)]
  for (const [{ bar, time }, pause] of [
    [quick, 900],
    [piped, 9000],
  ] as const) {
    const copying = bar(2)
    time.now += pause
    copying.advance()
    copying.advance()
    copying.end()
  }
  expect([...quick.written, ...piped.written]).toEqual([])
})

it('is never wider than the terminal, whatever it says', () => {
  const { written, time, bar } = stage(true, 20)
  const copying = bar(1000)
  time.now += 2000
  copying.advance()
  expect(written[0]).toHaveLength('\r\u001b[2K'.length + 19)
})

it('is one line, with a bar of one length, for any numbers', () => {
  const count = fc.integer({ min: 1, max: 1e9 })
  fc.assert(
    fc.property(count, count, fc.double({ min: 0, max: 1e12, noNaN: true }), (done, total, elapsed) => {
      expect(progressLine('Copying', done, total, elapsed)).toMatch(
        /^Copying {2}█*░* {2}\d+ of \d+, [\d hmins]+ left$/u,
      )
      expect(progressLine('Copying', done, total, elapsed).match(/[█░]/gu)).toHaveLength(24)
    }),
  )
})
