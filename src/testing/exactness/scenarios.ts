import { expectAtLeast, expectAtMost, expectEqual } from '../assertions.js'
import { LONG_KINDS, LONG_POLICIES } from '../conformance/sample-policies.js'
import type { Arena } from './arena.js'
import type { WirePart } from './protocol.js'

/** What several processes do at the same time, and what must come of it. */
export interface Scenario {
  readonly name: string
  run(arena: Arena): Promise<void>
}

const ALL_NAMES = LONG_KINDS.map(([name]) => name)
/** Without the log, whose limit cannot grow with the number of charges. */
const NAMES = ALL_NAMES.filter((name) => name !== 'slidingLog')
const PAIRED = LONG_POLICIES.map(([name]) => name)
const LONG_WINDOW_MS = 1000 * 86_400_000

const LOST = 'More than the limit: two charges were decided on one state, and one of the writes was lost.'
const DOUBLE = 'Less than the limit: a charge was counted twice, for example by a repeated write.'

function expectUnits(what: string, actual: number | undefined, limit: number): void {
  expectEqual(`${what}. ${(actual ?? 0) > limit ? LOST : DOUBLE}`, actual, limit)
}

const oneKey = ALL_NAMES.map(
  (policy): Scenario => ({
    name: `take exactly the limit of one key, and no more later: ${policy}`,
    async run({ part, charge, sent, expectLeft }) {
      const limit = Math.min(1000, Math.ceil(sent / 4))
      const hot = part('hot', { policy, limit })
      const counts = await charge({ charges: () => [[hot]] })
      expectUnits(`allowed of ${sent} charges with a limit of ${limit}`, counts.allowed, limit)
      expectEqual('allowed and denied charges together', counts.allowed + counts.denied, sent)
      await expectLeft([hot], counts)
      const later = await charge({ charges: () => [[hot]], each: 1 })
      expectEqual('allowed once the limit is reached', later.allowed, 0)
      await expectLeft([hot], counts)
    },
  }),
)

const oppositeOrders = PAIRED.map((first, i): Scenario => {
  const second = PAIRED[(i + 1) % PAIRED.length] ?? first
  return {
    name: `take keys in opposite orders all or nothing: ${first} and ${second}`,
    async run({ part, charge, sent, atomicAcrossKeys, expectLeft }) {
      const shares = { 'ip:1': 0.35, 'ip:2': 0.25, 'account:1': 0.3, 'account:2': 0.4 }
      const parts = Object.entries(shares).map(([name, share], j) =>
        part(name, { policy: j % 2 === 0 ? first : second, limit: Math.ceil(sent * share) }),
      )
      const limits = parts.map(({ limit }) => limit)
      const counts = await charge({ charges: (i) => [i % 2 === 0 ? parts : parts.toReversed()] })
      const least = Math.min(...limits)
      const what = `allowed of ${sent} charges of four keys with limits of ${limits.join(', ')}`
      expectAtMost(what, counts.allowed, least)
      expectAtLeast(what, counts.allowed, atomicAcrossKeys ? least : 1)
      await expectLeft(parts, counts)
    },
  }
})

const batches: Scenario = {
  name: 'take exactly the limits of several keys in batches of opposite orders',
  async run({ part, charge, sent, expectLeft }) {
    const limit = Math.ceil(sent / 4 / NAMES.length)
    const parts = NAMES.map((policy) => part(`batch:${policy}`, { policy, limit }))
    const charges = parts.map((each) => [each])
    const counts = await charge({
      charges: (i) => (i % 2 === 0 ? charges : charges.toReversed()),
      batch: NAMES.length,
    })
    for (const { key, policy } of parts)
      expectUnits(`units of a ${policy} with a limit of ${limit}`, counts.taken[key], limit)
    await expectLeft(parts, counts)
  },
}

const refunds: Scenario = {
  name: 'refund half of what they took, and neither lose nor double a unit',
  async run({ part, charge, sent, expectLeft }) {
    const parts = NAMES.map((policy) => part(`refunded:${policy}`, { policy, limit: 2 * sent, cost: 2 }))
    const charges = parts.map((each) => [each])
    const counts = await charge({ charges: () => charges, refundEvery: 2 })
    expectEqual(`allowed of ${sent} charges below the limits`, counts.allowed, sent)
    await expectLeft(parts, counts)
  },
}

const mixed: Scenario = {
  name: 'neither lose nor double a unit in mixed charges of up to four keys, with refunds',
  async run({ part, charge, sent, expectLeft }) {
    const limit = Math.ceil(sent / 8)
    const parts = NAMES.flatMap((policy) =>
      [0, 1].map((i) => part(`mixed:${policy}:${i}`, { policy, limit })),
    )
    const chargesOf = (process: number): WirePart[][] => {
      const below = randomNumbers(process + 1)
      const anyPart = () => ({ ...(parts[below(parts.length)] as WirePart), cost: 1 + below(3) })
      return Array.from({ length: 97 }, () => Array.from({ length: 1 + below(4) }, anyPart))
    }
    const counts = await charge({ charges: chargesOf, batch: 3, refundEvery: 3 })
    await expectLeft(parts, counts)
    expectAtLeast('allowed charges', counts.allowed, 1)
    expectAtLeast('denied charges', counts.denied, 1)
  },
}

const bans: Scenario = {
  name: 'count every denial of a ban once',
  async run({ part, charge, sent, peek }) {
    const limit = Math.ceil(sent / 2)
    const after = sent - limit + 1
    const banned = part('banned', { policy: 'ban', limit, after })
    const counts = await charge({ charges: () => [[banned]] })
    expectUnits(`allowed of ${sent} charges with a limit of ${limit}`, counts.allowed, limit)
    const [before] = await peek([banned])
    const what = (denials: number) => `moreAfterMs after ${denials} denials, with a ban after ${after}`
    expectAtMost(`${what(after - 1)}: no ban, and at most the window`, before?.moreAfterMs, LONG_WINDOW_MS)
    await charge({ charges: (process) => (process === 0 ? [[banned]] : []), callers: 1, each: 1 })
    const [then] = await peek([banned])
    expectAtLeast(`${what(after)}: the ban, which outlasts the window`, then?.moreAfterMs, LONG_WINDOW_MS + 1)
  },
}

export const SCENARIOS: readonly Scenario[] = [...oneKey, ...oppositeOrders, batches, refunds, mixed, bans]

/**
 * Returns a function that returns whole numbers below its argument, the same in each run (Park and Miller).
 */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return Math.floor((state / 2_147_483_647) * below)
  }
}
