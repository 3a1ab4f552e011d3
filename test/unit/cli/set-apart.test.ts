import { apartFrom } from '../../../src/cli/replay/suggestions.js'

test.each([
  ['no clients', {}, Infinity],
  ['one client', { 500: 1 }, Infinity],
  ['five clients, of which four remain', { 500: 1, 1: 4 }, Infinity],
  ['six clients, of which one is far above', { 500: 1, 1: 5 }, 500],
  ['all alike', { 60: 100 }, Infinity],
  ['small numbers, of which one is far above', { 10: 1, 1: 40 }, Infinity],
  ['not quite a gap', { 52: 1, 3: 30, 2: 1 }, Infinity],
  ['a gap, just', { 53: 1, 3: 30, 2: 1 }, 53],
  ['a wide spread without a gap', { 100: 1, 50: 5, 25: 10, 12: 20, 6: 40 }, Infinity],
  ['a spread up to a hundred times the median', { 300: 1, 100: 2, 50: 2, 20: 5, 8: 10, 1: 180 }, 100],
  ['two kinds of clients, both many', { 1000: 30, 10: 70 }, Infinity],
  ['two gaps, the wider one lower', { 9000: 1, 2000: 1, 20: 98 }, 2000],
  ['two gaps, the wider one higher', { 90000: 1, 200: 1, 20: 98 }, 90000],
])('%s', (_, clientsByMost, bound) => {
  const counts = Object.entries(clientsByMost).map(([most, clients]) => [Number(most), clients] as const)
  expect(apartFrom(new Map(counts))).toBe(bound)
})
