import fc from 'fast-check'
import {
  allSlots,
  CHART_SLOTS,
  MINUTE_SLOTS,
  SLOT_MS,
  Traffic,
} from '../../../../src/dashboard/figures/traffic.js'

/** The start of a slot. */
const START_MS = 1_790_000_000_000
const SLOT = START_MS / SLOT_MS

/** Returns the counts of a report that are not 0, by the number of their slot. */
function counted(lastSlot: number, counts: readonly number[]): Record<number, number> {
  const entries = counts.map((count, i) => [lastSlot - counts.length + 1 + i, count] as const)
  return Object.fromEntries(entries.filter(([, count]) => count > 0))
}

test('decisions are counted in the slot of their time, allowed and denied apart', () => {
  const traffic = new Traffic(MINUTE_SLOTS, START_MS)
  traffic.count(START_MS, true, 0)
  traffic.count(START_MS + SLOT_MS - 1, false, 0)
  traffic.count(START_MS + SLOT_MS, true, 0)
  const report = traffic.report(START_MS + 2 * SLOT_MS)
  const { allowed, denied } = allSlots(report)
  expect(report.lastSlot).toBe(SLOT + 2)
  expect(allowed).toEqual([...Array(MINUTE_SLOTS - 3).fill(0), 1, 1, 0])
  expect(denied).toEqual([...Array(MINUTE_SLOTS - 3).fill(0), 1, 0, 0])
})

test('a sum covers the last minute, with the highest use of it', () => {
  const traffic = new Traffic(MINUTE_SLOTS, START_MS)
  traffic.count(START_MS, true, 0.75)
  traffic.count(START_MS + SLOT_MS, true, 0.5)
  traffic.count(START_MS + SLOT_MS, false, 0.25)
  const minuteMs = MINUTE_SLOTS * SLOT_MS
  expect(traffic.sum(START_MS + minuteMs - 1)).toEqual({ allowed: 2, denied: 1, peak: 0.75 })
  expect(traffic.sum(START_MS + minuteMs)).toEqual({ allowed: 1, denied: 1, peak: 0.5 })
  expect(traffic.sum(START_MS + minuteMs + SLOT_MS)).toEqual({ allowed: 0, denied: 0, peak: 0 })
})

test('after a pause that is longer than all slots together, nothing is left', () => {
  const traffic = new Traffic(MINUTE_SLOTS, START_MS)
  for (let i = 0; i < MINUTE_SLOTS; i++) traffic.count(START_MS + i * SLOT_MS, true, 1)
  const laterMs = START_MS + 30 * 86_400_000 + 3 * SLOT_MS
  traffic.count(laterMs, false, 0)
  expect(traffic.sum(laterMs)).toEqual({ allowed: 0, denied: 1, peak: 0 })
  expect(traffic.report(laterMs).denied).toBe(1)
})

test('a clock that steps back counts in the last slot', () => {
  const traffic = new Traffic(MINUTE_SLOTS, START_MS)
  traffic.count(START_MS, true, 0)
  traffic.count(START_MS - 3 * SLOT_MS, true, 0)
  expect(counted(SLOT, allSlots(traffic.report(START_MS)).allowed)).toEqual({ [SLOT]: 2 })
})

test('a clock that was far ahead does not stop the chart until its time has come', () => {
  const traffic = new Traffic(CHART_SLOTS, START_MS + 365 * 86_400_000)
  traffic.count(START_MS + 365 * 86_400_000, true, 1)
  traffic.count(START_MS, true, 0)
  traffic.count(START_MS + SLOT_MS, true, 0)
  const report = traffic.report(START_MS + SLOT_MS)
  expect(counted(report.lastSlot, allSlots(report).allowed)).toEqual({ [SLOT]: 1, [SLOT + 1]: 1 })
})

test('a share that is no number leaves the highest use as it is', () => {
  const traffic = new Traffic(MINUTE_SLOTS, START_MS)
  traffic.count(START_MS, true, Number.NaN)
  expect(traffic.sum(START_MS).peak).toBe(0)
})

test('a report is what a plain list of the same decisions has in its slots', () => {
  const pauses = fc.array(fc.tuple(fc.nat(4 * SLOT_MS), fc.boolean()), { maxLength: 60 })
  fc.assert(
    fc.property(pauses, (steps) => {
      const traffic = new Traffic(MINUTE_SLOTS, START_MS)
      const expected: Record<number, number> = {}
      let nowMs = START_MS
      for (const [pauseMs, allowed] of steps) {
        nowMs += pauseMs
        traffic.count(nowMs, allowed, 0)
        const slot = Math.floor(nowMs / SLOT_MS)
        if (allowed) expected[slot] = (expected[slot] ?? 0) + 1
      }
      const last = Math.floor(nowMs / SLOT_MS)
      const inReport = Object.entries(expected).filter(([slot]) => Number(slot) > last - MINUTE_SLOTS)
      expect(counted(last, allSlots(traffic.report(nowMs)).allowed)).toEqual(Object.fromEntries(inReport))
    }),
    { numRuns: 100 },
  )
})
