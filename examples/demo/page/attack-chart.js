import { shape } from './dom.js'

const PLOT = { left: 40, right: 12, top: 22, height: 190 }
const ROW_HEIGHT = 42
const BROWSERS = { known: 'Ada, in a browser that has signed in before', new: 'Ada, in a new browser' }
const NAMES = Object.keys(BROWSERS)
const ROWS_TOP = PLOT.top + PLOT.height + 14
const AXIS_TOP = ROWS_TOP + NAMES.length * ROW_HEIGHT + 6
const HEIGHT = AXIS_TOP + 22
const MOST_GUESSES = 600

/**
 * Creates the chart of an attack: the guesses sent and those checked over its seconds, and below them a row
 * of sign-ins for each browser: a dot for one that worked, a cross for one that was denied.
 */
export function createAttackChart(svg, lengthMs) {
  const grid = shape('path', { class: 'grid' }, svg)
  const labels = shape('g', { class: 'labels' }, svg)
  const sent = shape('path', { class: 'line line-sent' }, svg)
  const checked = shape('path', { class: 'line line-checked' }, svg)
  const sentLabel = shape('text', { class: 'label-sent', 'text-anchor': 'end' }, svg)
  const checkedLabel = shape('text', { class: 'label-checked', 'text-anchor': 'end' }, svg)
  const worked = shape('path', { class: 'worked' }, svg)
  const denied = shape('path', { class: 'denied' }, svg)
  let width = 0
  let guesses = [] // [ms, sent, checked]
  let signIns = [] // [browser, ms, hasWorked]

  svg.setAttribute('height', HEIGHT)
  new ResizeObserver(([entry]) => resize(entry.contentRect.width)).observe(svg)

  const x = (ms) => PLOT.left + (ms / lengthMs) * (width - PLOT.left - PLOT.right)
  const y = (number) => PLOT.top + PLOT.height * (1 - number / MOST_GUESSES)
  const rowY = (browser) => ROWS_TOP + NAMES.indexOf(browser) * ROW_HEIGHT + 28

  function resize(newWidth) {
    width = newWidth
    labels.replaceChildren()
    let lines = ''
    for (const number of [0, 200, 400, 600]) {
      lines += `M${PLOT.left} ${Math.round(y(number)) + 0.5}H${width - PLOT.right}`
      text(PLOT.left - 8, y(number) + 4, String(number), 'end')
    }
    for (const [browser, title] of Object.entries(BROWSERS)) {
      lines += `M${PLOT.left} ${Math.round(rowY(browser)) + 0.5}H${width - PLOT.right}`
      text(PLOT.left, rowY(browser) - 12, title, 'start')
    }
    for (const second of [0, 10, 20, 30])
      text(x(second * 1000), AXIS_TOP + 12, `${second} s`, anchorAt(second))
    text(0, 11, 'guesses', 'start')
    grid.setAttribute('d', lines)
    draw()
  }

  function text(left, top, content, anchor) {
    shape('text', { x: left, y: top, 'text-anchor': anchor }, labels).textContent = content
  }

  const anchorAt = (second) => (second === 30 ? 'end' : second === 0 ? 'start' : 'middle')

  function draw() {
    if (width === 0) return
    const path = (column) =>
      guesses
        .map((guess, i) => `${i ? 'L' : 'M'}${x(guess[0]).toFixed(1)} ${y(guess[column]).toFixed(1)}`)
        .join('')
    sent.setAttribute('d', path(1))
    checked.setAttribute('d', path(2))
    place(sentLabel, guesses.at(-1)?.[1], 'sent', -10)
    place(checkedLabel, guesses.at(-1)?.[2], 'checked', -8)
    const marks = { true: '', false: '' }
    for (const [browser, ms, hasWorked] of signIns) {
      const [left, top] = [x(ms).toFixed(1), Math.round(rowY(browser)) + 0.5]
      marks[hasWorked] += hasWorked
        ? `M${left - 4.5} ${top}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0`
        : `M${left - 4} ${top - 4}l8 8m0-8l-8 8`
    }
    worked.setAttribute('d', marks.true)
    denied.setAttribute('d', marks.false)
  }

  /** Puts a label at the end of its line. */
  function place(label, number, what, above) {
    label.textContent = number > 0 ? `${number} ${what}` : ''
    if (!(number > 0)) return
    const end = Math.max(x(guesses.at(-1)[0]), PLOT.left + 84)
    label.setAttribute('x', end.toFixed(1))
    label.setAttribute('y', Math.max(12, y(number) + above).toFixed(1))
  }

  return {
    addGuesses: (...guess) => guesses.push(guess),
    addSignIn: (...signIn) => signIns.push(signIn),
    draw,
    clear() {
      guesses = []
      signIns = []
      draw()
    },
  }
}
