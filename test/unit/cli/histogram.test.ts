import { Histogram } from '../../../src/cli/replay/histogram.js'

const START_MS = Date.UTC(2026, 10, 24, 3, 0, 59)

test('a second is one bar', () => {
  const histogram = new Histogram(2)
  histogram.add(START_MS)
  histogram.add(START_MS + 999)
  histogram.addDenial(1)
  expect(histogram.bars()).toEqual([{ atMs: START_MS, requests: 2, denied: [0, 1] }])
})

test.each([60, 3600, 86_400, 30 * 86_400, 3000 * 86_400])(
  'no request is lost over %i seconds, and bars stay few',
  (seconds) => {
    const histogram = new Histogram(1)
    for (let i = 0; i <= 1000; i++) {
      histogram.add(START_MS + seconds * i)
      if (i % 10 === 0) histogram.addDenial(0)
    }
    const bars = histogram.bars()
    expect(bars.length).toBeLessThanOrEqual(36)
    expect(bars.reduce((sum, { requests }) => sum + requests, 0)).toBe(1001)
    expect(bars.reduce((sum, { denied }) => sum + (denied[0] as number), 0)).toBe(101)
    expect(bars.every(({ atMs }) => atMs % histogram.widthMs === 0)).toBe(true)
    expect(bars[0]?.atMs).toBeLessThanOrEqual(START_MS)
    expect(START_MS - (bars[0]?.atMs as number)).toBeLessThan(histogram.widthMs)
  },
)
