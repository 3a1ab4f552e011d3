import fc from 'fast-check'
import type { LimitDemand } from '../../../src/tuning/client-demand.js'
import type { Proposal } from '../../../src/tuning/proposal.js'
import { propose } from '../../../src/tuning/propose.js'
import { between, clients, demandOf } from './demands.js'

const crowd = between(400, 1, 40)

interface Case {
  readonly demand: LimitDemand
  readonly proposal: Partial<Proposal>
  readonly sizes?: { readonly apart?: number; readonly upper?: number; readonly newlyDenied?: number }
}

const CASES: Readonly<Record<string, Case>> = {
  'a crowd alone gets half as much room again': {
    demand: demandOf(crowd),
    proposal: {
      ...{ verdict: 'set', limit: 60, cautions: [] },
      reason: 'None of the 400 clients asked for more than 40 in 1m, so 60 leaves them room.',
    },
  },
  'a few clients above a gap are set apart': {
    demand: demandOf([...crowd, ...between(15, 600, 650)]),
    proposal: {
      ...{ verdict: 'set', limit: 60 },
      reason:
        '400 of 415 clients asked for at most 40 in 1m, so 60 leaves them room and denies the 15 that asked for 600 to 650.',
      cautions: [
        'If a client that was set apart is a customer, give it an override instead of raising the limit for everyone.',
      ],
    },
    sizes: { apart: 15, newlyDenied: 15 },
  },
  'the widest gap divides, not the lowest': {
    demand: demandOf([...crowd, ...clients([200, 9000])]),
    proposal: { verdict: 'set', limit: 300 },
    sizes: { apart: 1, newlyDenied: 1 },
  },
  'without a gap, a few clients with 100 times the median are set apart': {
    demand: demandOf([...between(400, 1, 3), ...clients([6, 20, 50, 105, 230, 250])]),
    proposal: { limit: 168, apart: expect.objectContaining({ because: 'median' }) },
    sizes: { apart: 2, newlyDenied: 2 },
  },
  'with two plans, 100 times the median of the larger one counts': {
    demand: demandOf([...between(120, 4, 40), ...between(40, 256, 600), ...clients([1500, 2300])]),
    proposal: { limit: 4000 },
    sizes: { upper: 42 },
  },
  'two plans: the larger group stays in the crowd, and is named': {
    demand: demandOf([...between(300, 1, 40), ...between(100, 400, 900)]),
    proposal: {
      ...{ verdict: 'set', limit: 1500 },
      cautions: [
        'There are two groups: 100 clients asked for 400 to 900, and 300 for much less. If the 100 have another plan, ' +
          'give that plan its own limit, and the others 60. If they are attackers, set 60.',
      ],
    },
    sizes: { upper: 100 },
  },
  'a large group that the limit in force denies does not raise it': {
    demand: demandOf([...between(300, 1, 40), ...between(100, 400, 900, { wasDenied: true })], {
      limit: 100,
    }),
    proposal: { verdict: 'keep', limit: 100, apart: expect.objectContaining({ because: 'denied' }) },
    sizes: { apart: 100 },
  },
  'an attack that is going on does not raise the limit in force': {
    demand: demandOf([...crowd, ...between(15, 3000, 4000, { wasDenied: true })], { limit: 60 }),
    proposal: { verdict: 'keep', limit: 60 },
    sizes: { apart: 15 },
  },
  'clients of the crowd that are denied raise it': {
    demand: demandOf([...between(390, 1, 40), ...between(10, 41, 55, { wasDenied: true })], { limit: 40 }),
    proposal: {
      ...{ verdict: 'raise', limit: 100, cautions: [] },
      reason:
        'None of the 400 clients asked for more than 55 in 1m, but the limit in force (40) denied 10 of them, so 100 ' +
        'lets them all pass.',
    },
  },
  'if a third of the crowd is denied, the proposal warns of an attack by many': {
    demand: demandOf([...between(270, 1, 40), ...between(130, 41, 120, { wasDenied: true })], { limit: 40 }),
    proposal: {
      ...{ verdict: 'raise', limit: 200 },
      cautions: [
        '33% of these clients were denied. If this is an attack by many clients, do not raise the limit.',
      ],
    },
  },
  'a peak above the limit that was not denied, as of a token bucket, raises nothing': {
    demand: demandOf(between(400, 1, 55), { limit: 40 }),
    proposal: { verdict: 'keep', limit: 40 },
  },
  'a limit that no client reaches is lowered': {
    demand: demandOf([...crowd, ...between(15, 600, 650)], { limit: 10_000 }),
    proposal: {
      ...{ verdict: 'lower', limit: 60 },
      reason:
        '400 of 415 clients asked for at most 40 in 1m, far below the limit in force (10,000), so 60 still leaves ' +
        'them room and denies the 15 that asked for 600 to 650.',
    },
    sizes: { apart: 15, newlyDenied: 15 },
  },
  'a wide limit that denies clients of the crowd all the same, such as in bursts, is not lowered': {
    demand: demandOf([...between(399, 1, 40), ...clients([38], { wasDenied: true })], { limit: 1000 }),
    proposal: {
      ...{ verdict: 'keep', limit: 1000 },
      reason:
        'None of the 400 clients asked for more than 40 in 1m, so the limit in force (1,000) leaves them room, ' +
        'although it denied 1 of them.',
    },
  },
  'a limit that is about right stays': {
    demand: demandOf(crowd, { limit: 100 }),
    proposal: {
      ...{ verdict: 'keep', limit: 100 },
      reason:
        'None of the 400 clients asked for more than 40 in 1m, so the limit in force (100) lets them pass.',
    },
  },
  'one client alone is a guess': {
    demand: demandOf(clients([70])),
    proposal: {
      ...{ verdict: 'set', limit: 150 },
      reason: 'The only client asked for at most 70 in 1m, so 150 leaves it room.',
      cautions: ['Only one client was seen, so the limit is a guess.'],
    },
  },
  'two clients that differ widely both pass': {
    demand: demandOf(clients([5, 5000])),
    proposal: {
      limit: 10_000,
      cautions: ['Only 2 clients were seen, so the limit is a guess.'],
    },
  },
  'of six clients, one may be set apart': {
    demand: demandOf(clients([5, 6, 7, 8, 9, 900]), { toMs: 2 * 3_600_000 }),
    proposal: {
      limit: 20,
      reason:
        '5 of 6 clients asked for at most 9 in 1m, so 20 leaves them room and denies the one that asked for 900.',
      cautions: [
        'Only 6 clients were seen in 2 hours, so the limit is a guess.',
        'If the client set apart is a customer, give it an override instead of raising the limit for everyone.',
      ],
    },
    sizes: { apart: 1, newlyDenied: 1 },
  },
  'a short time is also a guess': {
    demand: demandOf(crowd, { toMs: 5 * 60_000 }),
    proposal: {
      limit: 80,
      cautions: ['The traffic covers 5 minutes, less than a day, so other hours may need more.'],
    },
  },
  'clients that are all alike get room for chance': {
    demand: demandOf(clients(Array(500).fill(1))),
    proposal: { verdict: 'set', limit: 4 },
  },
  'small counts differ by chance: 1 and 12 are no gap': {
    demand: demandOf(clients([...Array(500).fill(1), 12])),
    proposal: { limit: 25 },
  },
  'a sample counts by its weights': {
    demand: demandOf([...between(9, 1, 40, { weight: 100 }), ...between(60, 600, 650)]),
    proposal: { clients: 960, upper: expect.objectContaining({ clients: 60, lowerLimit: 60 }), limit: 1000 },
    sizes: { upper: 60 },
  },
  'an entry that stands for many is no single client': {
    demand: demandOf([...between(4, 10, 40, { weight: 100 }), ...clients([600], { weight: 60 })]),
    proposal: { limit: 1000, clients: 460 },
    sizes: { upper: 60 },
  },
  'several clients with one peak are apart by a smaller gap than one client': {
    demand: demandOf([...crowd, ...clients([150], { weight: 5 })]),
    proposal: { limit: 60 },
    sizes: { apart: 5, newlyDenied: 5 },
  },
  'one client with that peak is not': {
    demand: demandOf([...crowd, ...clients([150])]),
    proposal: { limit: 250 },
  },
  'no demand proposes nothing': {
    demand: demandOf([]),
    proposal: {
      ...{ verdict: 'unknown', clients: 0, quantiles: [], cautions: [] },
      reason: 'No client asked for anything, so there is nothing to learn from.',
    },
  },
  'demands that are none are left out': {
    demand: demandOf([
      ...clients([Number.NaN, 0, -5, Number.POSITIVE_INFINITY]),
      ...clients([10], { weight: 0 }),
      ...clients([10]),
    ]),
    proposal: { limit: 20 },
  },
}

test.each(Object.entries(CASES))('%s', (_, { demand, proposal, sizes = {} }) => {
  const found = propose(demand)
  expect(found).toMatchObject(proposal)
  expect({
    apart: found.apart?.clients,
    upper: found.upper?.clients,
    newlyDenied: found.newlyDenied?.clients,
  }).toEqual({ apart: undefined, upper: undefined, newlyDenied: undefined, ...sizes })
})

test('quantiles say which peaks shares of the clients do not exceed', () => {
  const { quantiles } = propose(demandOf(between(1000, 1, 1000)))
  expect(quantiles).toEqual([
    { share: 0.5, peak: 500 },
    { share: 0.9, peak: 900 },
    { share: 0.99, peak: 990 },
    { share: 0.999, peak: 999 },
    { share: 1, peak: 1000 },
  ])
})

test('a group names its 50 largest clients, the largest first', () => {
  const { newlyDenied } = propose(demandOf([...between(4000, 1, 40), ...between(100, 600, 699)]))
  expect(newlyDenied).toMatchObject({ clients: 100, smallestPeak: 600, largestPeak: 699 })
  expect(newlyDenied?.largest.map(({ peak }) => peak)).toEqual(Array.from({ length: 50 }, (_, i) => 699 - i))
})

const demand = fc.record({
  identity: fc.string(),
  peak: fc.oneof(fc.nat(60), fc.nat(1e6), fc.double()),
  weight: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1000 })),
  wasDenied: fc.boolean(),
})

test('whatever the demand: the crowd passes, unless a limit in force that denies it is the wider one', () => {
  fc.assert(
    fc.property(
      fc.array(demand, { maxLength: 60 }),
      fc.option(fc.integer({ min: 1, max: 1e6 })),
      (all, limit) => {
        const proposal = propose(demandOf(all, limit === null ? {} : { limit }))
        if (proposal.verdict === 'unknown') return proposal.limit === undefined
        const { limit: proposed = 0, crowd: passing, newlyDenied, inForce, verdict } = proposal
        const isWhole = Number.isInteger(proposed) && proposed >= 1
        const passes = verdict === 'keep' ? proposed === inForce : (passing?.largestPeak ?? 0) <= proposed
        const isNewlyDenied = (newlyDenied?.largest ?? []).every(
          ({ peak, wasDenied }) => peak > proposed && !wasDenied,
        )
        return isWhole && passes && isNewlyDenied && /^[A-Z0-9].*\.$/.test(proposal.reason)
      },
    ),
  )
})

test('the order of demands does not matter', () => {
  fc.assert(
    fc.property(
      fc.shuffledSubarray([...between(60, 1, 40), ...clients([300, 5000])], { minLength: 62 }),
      (all) => {
        expect(propose(demandOf(all)).limit).toBe(propose(demandOf([...all].reverse())).limit)
      },
    ),
  )
})
