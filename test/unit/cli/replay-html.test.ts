import { barChart } from '../../../src/cli/replay/html/chart.js'
import { html } from '../../../src/cli/replay/html/markup.js'
import { timeTicks } from '../../../src/cli/replay/html/time-axis.js'

const START_MS = Date.UTC(2026, 10, 24, 8)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('html', () => {
  test.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    [`" onload='x'`, '&quot; onload=&#39;x&#39;'],
    ['&lt;', '&amp;lt;'],
    [7, '7'],
  ])('escapes %j', (value, escaped) => {
    expect(html`<p title="${value}">${value}</p>`.markup).toBe(`<p title="${escaped}">${escaped}</p>`)
  })

  test('keeps its own parts as they are, and no more than once', () => {
    const parts = ['<', '>'].map((text) => html`<b>${text}</b>`)
    expect(html`<p>${parts}${html`<i>&</i>`}</p>`.markup).toBe('<p><b>&lt;</b><b>&gt;</b><i>&</i></p>')
  })
})

describe('the times of an axis', () => {
  const labels = (...args: Parameters<typeof timeTicks>) => timeTicks(...args).map(({ label }) => label)

  test.each([
    ['minutes', START_MS, 5 * MINUTE, 24, ['08:00', '08:30', '09:00', '09:30']],
    [
      'a start that is not round',
      START_MS + 7 * MINUTE,
      MINUTE,
      30,
      ['08:10', '08:15', '08:20', '08:25', '08:30', '08:35'],
    ],
    ['seconds', START_MS, 1000, 20, ['08:00:00', '08:00:05', '08:00:10', '08:00:15']],
    ['midnight', START_MS + 12 * HOUR, HOUR, 10, ['21:00', '2026-11-25', '03:00']],
    ['days', START_MS - 8 * HOUR, DAY, 3, ['2026-11-24', '2026-11-25', '2026-11-26']],
    ['one bar that is not round', START_MS + 1000, 1000, 1, ['08:00:01']],
    ['no bar', Number.NaN, 1000, 0, []],
  ] as const)('%s', (_what, startMs, widthMs, bars, expected) => {
    expect(labels(startMs, widthMs, bars)).toEqual(expected)
  })

  test.each([
    1000,
    5000,
    15_000,
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    4 * DAY,
  ])('there are a few for every number of bars of %i ms', (widthMs) => {
    for (let bars = 1; bars <= 36; bars++) {
      const ticks = timeTicks(Math.floor(START_MS / widthMs) * widthMs, widthMs, bars)
      expect(ticks.length).toBeGreaterThan(0)
      expect(ticks.length).toBeLessThanOrEqual(7)
      expect(ticks.every(({ bar }) => bar >= 0 && bar < bars)).toBe(true)
    }
  })
})

describe('a chart', () => {
  const bars = [
    { at: '2026-11-24T08:00:00.000Z', requests: 600, denied: [0, 1] },
    { at: '2026-11-24T08:05:00.000Z', requests: 900, denied: [0, 450] },
  ]
  const histogram = { widthMs: 5 * MINUTE, bars }

  /** Returns the height of each bar of a kind. */
  function heightsOf(kind: string, limit: number | undefined): number[] {
    const { markup } = barChart(histogram, limit, 'title')
    const rects = markup.matchAll(new RegExp(`<rect class="${kind}"[^>]* height="([\\d.]+)"`, 'g'))
    return Array.from(rects, ([, height]) => Number(height))
  }

  test('draws what its limit denies above what it allows, and shows a single denial', () => {
    const [first = 0, second = 0] = heightsOf('denied', 1)
    expect(first).toBe(2)
    expect(second).toBeCloseTo(heightsOf('allowed', 1)[1] as number)
    expect(heightsOf('denied', 0)).toEqual([])
    expect(heightsOf('allowed', 0)).toHaveLength(2)
    expect(heightsOf('allowed', undefined)).toEqual(heightsOf('allowed', 0))
  })

  test('says in words what it shows', () => {
    const descriptionOf = (limit?: number) =>
      /<desc[^>]*>(.*)<\/desc>/.exec(barChart(histogram, limit, 'title').markup)?.[1]
    const most = 'At most 900 requests in 5m, starting at 2026-11-24 08:05:00Z.'
    expect(descriptionOf(1)).toBe(
      `${most} 451 were denied, at most 450 of them in one bar, at 2026-11-24 08:05:00Z.`,
    )
    expect(descriptionOf(0)).toBe(`${most} None were denied.`)
    expect(descriptionOf()).toBe(most)
  })

  test.each([
    [1, ['0', '1', '2']],
    [999, ['0', '500', '1,000']],
    [4_100_000, ['0', '3M', '6M']],
  ])('has round values for at most %i requests', (requests, values) => {
    const one = { widthMs: 1000, bars: [{ at: '2026-11-24T08:00:00.000Z', requests, denied: [] }] }
    const { markup } = barChart(one, undefined, 'title')
    const shown = Array.from(markup.matchAll(/text-anchor="end">([\d,M]+)</g), ([, text]) => text)
    expect(shown).toEqual(values)
  })
})
