import { type Life, replacedIds } from '../../../../src/dashboard/shared/replaced.js'

const MINUTE_MS = 60_000
const NOON_MS = 1_790_000_000_000

/** A process from one minute to another, by the time since noon. */
const life = (id: string, state: Life['state'], from: number, to: number): Life => {
  return { id, state, startedAtMs: NOON_MS + from * MINUTE_MS, lastSeenMs: NOON_MS + to * MINUTE_MS }
}
const ids = (lives: readonly Life[]) => [...replacedIds(lives)].sort()
const fleet = (name: string, state: Life['state'], count: number, from: number, to: number) =>
  Array.from({ length: count }, (_, i) => life(`${name}${i}`, state, from + i / 10, to + i / 10))

test('a deploy that replaces 20 processes leaves none missing, whichever start first', () => {
  const old = fleet('old', 'gone', 20, -300, 0)
  expect(ids([...old, ...fleet('new', 'alive', 20, 0.2, 30)])).toHaveLength(20)
  expect(ids([...fleet('new', 'alive', 20, -2, 30), ...old])).toHaveLength(20)
})

test('two deploys within an hour leave none missing', () => {
  const first = fleet('a', 'gone', 20, -300, -30)
  const second = fleet('b', 'gone', 20, -29, 0)
  expect(ids([...first, ...second, ...fleet('c', 'alive', 20, 0.5, 10)])).toHaveLength(40)
})

test('of 20 that ended, 19 are replaced by 19', () => {
  expect(ids([...fleet('old', 'gone', 20, -300, 0), ...fleet('new', 'alive', 19, 3, 30)])).toHaveLength(19)
})

test.each<[string, readonly Life[], string[]]>([
  ['killed, and none starts', [life('a', 'gone', -60, 0), life('b', 'alive', -60, 10)], []],
  ['restarted', [life('a', 'gone', -60, 0), life('b', 'alive', 0, 10)], ['a']],
  ['restarted half an hour later', [life('a', 'gone', -60, 0), life('b', 'alive', 30, 40)], ['a']],
  [
    'killed a minute after its start, among those that started with it',
    [life('a', 'gone', 0, 1), life('b', 'alive', 0.5, 9)],
    [],
  ],
  ['killed soon after its start, and restarted', [life('a', 'gone', 0, 1), life('b', 'alive', 1, 9)], ['a']],
  [
    'killed as another is closed, and one starts',
    [life('a', 'gone', -60, 0), life('b', 'closed', -60, 0), life('c', 'alive', 1, 9)],
    ['a'],
  ],
  [
    'killed a second after its start, when others have just started',
    [life('a', 'gone', 0, 0.02), life('b', 'alive', -0.02, 9)],
    [],
  ],
  [
    'seen last two seconds after its end, and restarted in between',
    [life('a', 'gone', -60, 0), life('b', 'alive', -0.03, 9)],
    ['a'],
  ],
  [
    'seen last two seconds after its end, soon after its start, and restarted in between',
    [life('a', 'gone', -2, 0), life('b', 'alive', -0.03, 9)],
    ['a'],
  ],
  ['closed, not gone', [life('a', 'closed', -60, 0), life('b', 'alive', 0, 10)], []],
])('a process that is %s', (_, lives, expected) => {
  expect(ids(lives)).toEqual(expected)
})

test('one that crashes after each start stays missing, but not the first of them and the one before', () => {
  const crashes = Array.from({ length: 9 }, (_, i) => life(`crash${i}`, 'gone', i, i + 0.5))
  expect(ids([life('old', 'gone', -60, 0), ...crashes, life('now', 'alive', 9, 9.2)])).toEqual([
    'crash0',
    'old',
  ])
})
