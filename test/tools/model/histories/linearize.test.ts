import { linearize, linearizeSeveral, mostHeld } from './linearize.js'
import type { Call, Costs, Entry, Rules, Shown } from './sequential.js'

const TWO: Rules = { limit: 2, after: 0, isTentative: false }
const BAN: Rules = { ...TWO, after: 1 }
const HELD: Rules = { ...TWO, holdsUnits: true }

const charge = (decision: number, cost = 1): Call => ({ type: 'charge', cost, decision })
const refund = (decision: number): Call => ({ type: 'refund', cost: 1, decision })
const shows = (remaining: number, allowed = true): Shown => ({ allowed, remaining })

function entry(invokedNs: number, returnedNs: number, call: Call, shown?: Shown): Entry {
  return { call, invokedNs, returnedNs, shown }
}

/** A call without a result, which may take effect at any later time. */
const unknown = (invokedNs: number, call: Call): Entry => ({
  ...entry(invokedNs, Number.MAX_VALUE, call),
  isUnknown: true,
})

const ORDERED: readonly (readonly [string, Rules, readonly Entry[]])[] = [
  [
    'charges at the same time in either order',
    TWO,
    [entry(1, 9, charge(0), shows(0)), entry(2, 8, charge(1), shows(1))],
  ],
  [
    'a charge that only a refund at the same time allows',
    TWO,
    [entry(1, 2, charge(0, 2), shows(0)), entry(3, 9, charge(1), shows(0)), entry(4, 8, refund(0))],
  ],
  [
    'a charge without a result that has taken a unit',
    TWO,
    [unknown(1, charge(0)), entry(2, 3, charge(1), shows(0))],
  ],
  [
    'a charge without a result, whose unit was held and released late',
    HELD,
    [unknown(1, charge(0)), entry(2, 3, charge(1), shows(0)), entry(4, 5, charge(2), shows(0))],
  ],
  [
    'a charge without a result that has taken none',
    TWO,
    [unknown(1, charge(0)), entry(2, 3, charge(1), shows(1))],
  ],
  [
    'a refund of an adjusted decision, of which another charge sees a part',
    TWO,
    [
      entry(1, 2, charge(0), shows(1)),
      entry(3, 4, { type: 'adjust', decision: 0, cost: 1, actual: 2 }),
      entry(5, 9, refund(0)),
      entry(6, 8, charge(1), shows(0)),
    ],
  ],
  [
    'a ban that ends when it is forgotten',
    BAN,
    [
      entry(1, 2, charge(0, 3), shows(0, false)),
      entry(3, 4, { type: 'forget' }),
      entry(5, 6, charge(1), shows(1)),
    ],
  ],
]

const VIOLATIONS: readonly (readonly [string, Rules, readonly Entry[]])[] = [
  [
    'two charges that see the same count',
    TWO,
    [entry(1, 9, charge(0), shows(1)), entry(2, 8, charge(1), shows(1))],
  ],
  [
    'a unit that is released late twice',
    HELD,
    [
      unknown(1, charge(0)),
      entry(2, 3, charge(1), shows(0)),
      entry(4, 5, charge(2), shows(0)),
      entry(6, 7, charge(3), shows(0)),
    ],
  ],
  ['a charge above the limit', TWO, [entry(1, 2, charge(0, 2), shows(0)), entry(3, 4, charge(1), shows(0))]],
  [
    'a refund that is lost',
    TWO,
    [entry(1, 2, charge(0), shows(1)), entry(3, 4, refund(0)), entry(5, 6, { type: 'peek' }, shows(1))],
  ],
  [
    'a denial that takes units',
    TWO,
    [
      entry(1, 2, charge(0), shows(1)),
      entry(3, 4, charge(1, 2), shows(1, false)),
      entry(5, 6, { type: 'peek' }, shows(0)),
    ],
  ],
  [
    'a charge without a result that was counted twice',
    TWO,
    [unknown(1, charge(0)), entry(2, 3, { type: 'peek' }, shows(0))],
  ],
  [
    'a denial that a ban does not count',
    BAN,
    [entry(1, 2, charge(0, 3), shows(0, false)), entry(3, 4, charge(1), shows(1))],
  ],
]

test.each(ORDERED)('%s can be ordered', (_what, rules, entries) => {
  expect(linearize(entries, rules)).toBe('ordered')
})

test.each(VIOLATIONS)('%s cannot be ordered', (_what, rules, entries) => {
  expect(linearize(entries, rules)).toBe('violation')
})

test('a denial that other charges may have caused is in order if it is tentative', () => {
  const entries = [entry(1, 2, charge(0), shows(0, false))]
  expect(linearize(entries, TWO)).toBe('violation')
  expect(linearize(entries, { ...TWO, isTentative: true })).toBe('ordered')
})

test('calls under older numbers see the same units, and count by their own limit', () => {
  const rules = { limit: 3, after: 2, isTentative: false, older: { limit: 1, after: 1 } }
  const older = (decision: number): Call => ({ ...charge(decision), isOlder: true })
  const first = entry(1, 2, charge(0, 2), shows(1))
  const then = (remaining: number) => [
    first,
    entry(3, 4, older(1), shows(0, false)),
    entry(5, 6, charge(2), shows(remaining, false)),
  ]
  expect(linearize(then(0), rules)).toBe('ordered') // the older denial has started a ban
  expect(linearize(then(1), rules)).toBe('violation')
  expect(linearize([first, entry(3, 4, older(1), shows(0))], rules)).toBe('violation')
})

/** Two keys, `a` and `b`, of which a charge takes units together. */
const both = (costs: Costs): Call => ({ type: 'charge', cost: 0, costs, decision: 0 })
const showsBoth = (a: Shown, b: Shown): Shown => ({
  allowed: a.allowed && b.allowed,
  remaining: Math.min(a.remaining, b.remaining),
  parts: { a, b },
})
const PAIR = { a: TWO, b: TWO }

test('charges of two keys at the same time can be ordered if one sees the other on both', () => {
  const first = entry(1, 9, both({ a: 1, b: 1 }), showsBoth(shows(1), shows(1)))
  const sees = (a: number, b: number) => [
    first,
    entry(1, 9, both({ a: 1, b: 1 }), showsBoth(shows(a), shows(b))),
  ]
  expect(linearizeSeveral(sees(0, 0), PAIR)).toBe('ordered')
  expect(linearizeSeveral(sees(0, 1), PAIR)).toBe('violation')
})

test('a charge that one of two keys denies takes nothing of the other', () => {
  const denied = entry(1, 2, both({ a: 1, b: 3 }), showsBoth(shows(2), shows(2, false)))
  const then = (a: number) => [denied, entry(3, 4, both({ a: 0, b: 0 }), showsBoth(shows(a), shows(2)))]
  expect(linearizeSeveral(then(2), PAIR)).toBe('ordered')
  expect(linearizeSeveral(then(1), PAIR)).toBe('violation')
})

test('a refund gives units back to one key after the other', () => {
  const taken = entry(1, 2, both({ a: 1, b: 1 }), showsBoth(shows(1), shows(1)))
  const refunded = entry(3, 9, { ...both({ a: 1, b: 1 }), type: 'refund' } as Call)
  const peeked = entry(4, 5, both({ a: 0, b: 0 }), showsBoth(shows(2), shows(1)))
  expect(linearizeSeveral([taken, refunded, peeked], PAIR)).toBe('ordered')
})

test('only a charge that takes nothing of a key may miss its row', () => {
  const RULES = { a: { ...TWO, mayMissRow: true }, b: TWO }
  const first = entry(1, 2, both({ a: 1, b: 1 }), showsBoth(shows(1), shows(1)))
  const missing = (cost: number, a: number) => [
    first,
    entry(3, 4, both({ a: cost, b: 0 }), showsBoth(shows(a), shows(1))),
  ]
  expect(linearizeSeveral(missing(0, 2), PAIR)).toBe('violation')
  expect(linearizeSeveral(missing(0, 2), RULES)).toBe('ordered')
  expect(linearizeSeveral(missing(1, 1), RULES)).toBe('violation')
})

test('units are held from the result of a charge until the call of its release', () => {
  const first = entry(1, 2, charge(0), shows(1))
  expect(mostHeld([first, entry(3, 4, refund(0)), entry(5, 6, charge(1), shows(1))])).toBe(1)
  expect(mostHeld([first, entry(3, 4, charge(1), shows(0)), entry(5, 6, refund(0))])).toBe(2)
})
