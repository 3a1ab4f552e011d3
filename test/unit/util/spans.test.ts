import { Spans } from '../../../src/util/spans.js'

const START_MS = 1_790_000_000_000

/** Spans of ten, of which three are kept, that each hold what was put into them. */
function spansOf() {
  const spans = new Spans<string[]>(10, 3, () => [])
  return {
    put: (atMs: number, name: string) => spans.current(START_MS + atMs).push(name),
    kept: (atMs: number) => spans.kept(START_MS + atMs).map((span) => span.join('')),
    clear: () => spans.clear(),
  }
}

test('what is put into spans is kept for as long as they last', () => {
  const { put, kept } = spansOf()
  put(0, 'a')
  put(9, 'b')
  put(10, 'c')
  put(29, 'd')
  expect(kept(29)).toEqual(['d', 'c', 'ab'])
  expect(kept(30)).toEqual(['', 'd', 'c'])
  expect(kept(49)).toEqual(['', '', 'd'])
  expect(kept(79)).toEqual([])
})

test('a pause that is longer than all spans starts over, at the time of what comes next', () => {
  const { put, kept } = spansOf()
  put(0, 'a')
  put(1005, 'b')
  put(1014, 'c')
  expect(kept(1014)).toEqual(['bc'])
})

test('a clock that steps back a little goes on in the newest span, and one that steps back far starts over', () => {
  const { put, kept } = spansOf()
  put(0, 'a')
  put(-15, 'b')
  expect(kept(-15)).toEqual(['ab'])
  put(-1000, 'c')
  expect(kept(-1000)).toEqual(['c'])
})

test('nothing is kept before anything was put, and after it was cleared', () => {
  const { put, kept, clear } = spansOf()
  expect(kept(0)).toEqual([])
  put(0, 'a')
  clear()
  expect(kept(0)).toEqual([])
})
