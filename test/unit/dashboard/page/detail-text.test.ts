import { pageModule } from '../../../support/page-module.js'

const { storeText, candidateText } = pageModule<{
  storeText(store: object): string
  candidateText(candidate: object, nowMs: number): string
}>('detail-text.js')

const NOW_MS = new Date('2026-11-28T12:30:00').getTime()
const SINCE_MS = new Date('2026-11-28T12:04:00').getTime()

test.each([
  [{ calls: 0, failures: 0 }, ''],
  [{ calls: 0, failures: 0, keys: 1 }, '1 key in memory'],
  [
    { calls: 1234, failures: 0, medianMs: 0.4, p99Ms: 12.4 },
    '1,234 calls in the last minute, half of them within 0.4 ms, 99% within 12 ms',
  ],
  [
    { calls: 1, failures: 1, medianMs: 800, p99Ms: 1131.37 },
    '1 call in the last minute, half of them within 800 ms, 99% within 1,131 ms, 1 failed',
  ],
])('of a store with %j, it says %j', (store, text) => {
  expect(storeText(store)).toBe(text)
})

const candidate = {
  sinceMs: SINCE_MS,
  requests: 1200,
  clients: 30,
  newlyDenied: 0,
  newlyAllowed: 0,
  failed: 0,
}

test.each([
  [{ requests: 0, clients: 0 }, 'It has decided no requests since 12:04.'],
  [
    {},
    'Of 1,200 requests from 30 clients since 12:04, it would have made the same decisions as the limits in force.',
  ],
  [
    { newlyDenied: 12 },
    'Of 1,200 requests from 30 clients since 12:04, it would have denied 12 that were allowed.',
  ],
  [
    { newlyDenied: 12, newlyAllowed: 3, failed: 1 },
    'Of 1,200 requests from 30 clients since 12:04, it would have denied 12 that were allowed, and allowed 3 that were denied. It could not decide 1 request.',
  ],
])('of a candidate with %j, it says %j', (own, text) => {
  expect(candidateText({ ...candidate, ...own }, NOW_MS)).toBe(text)
})
