import { linearize, mostHeld } from './linearize.js'
import type { Call, Entry, Rules, Shown } from './sequential.js'

const TWO: Rules = { limit: 2, after: 0, isTentative: false }
const BAN: Rules = { ...TWO, after: 1 }

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

test('units are held from the result of a charge until the call of its release', () => {
  const first = entry(1, 2, charge(0), shows(1))
  expect(mostHeld([first, entry(3, 4, refund(0)), entry(5, 6, charge(1), shows(1))])).toBe(1)
  expect(mostHeld([first, entry(3, 4, charge(1), shows(0)), entry(5, 6, refund(0))])).toBe(2)
})
