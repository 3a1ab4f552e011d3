import { withDemands } from '../../../../src/dashboard/shared/demand/add-demands.js'
import { DEMAND_CODEC } from '../../../../src/dashboard/shared/demand/demand-codec.js'
import type { LimiterDemands } from '../../../../src/dashboard/shared/demand/demand-document.js'
import { demandsOf } from '../../../../src/dashboard/shared/demand/read-demands.js'
import { MAX_TEXT, sharedDocument } from '../../../../src/dashboard/shared/shared-document.js'
import type { FinishedStep } from '../../../../src/dashboard/shared/steps.js'
import { DistinctCounter } from '../../../../src/util/distinct-sample.js'
import { sharedDocuments } from './shared-documents.js'

/** The start of a period of 12 hours. */
const START = 144 * 41_434
const HALF_DAY = 144

type Asked = Readonly<Record<string, number | readonly number[]>>

const fixed = (limit: number) => ({ policy: { kind: 'fixed-window', limit, windowMs: 60_000 } as const })

function finished(
  step: number,
  asked: Asked,
  own: object = {},
  denied: readonly string[] = [],
): FinishedStep {
  const clients = new DistinctCounter(1000)
  const demands = Object.entries(asked).map(([identity, peak]) => {
    clients.add(identity)
    return { identity, peaks: [peak].flat(), seen: 0, wasDenied: denied.includes(identity) }
  })
  return {
    step,
    allowed: 0,
    denied: 0,
    demands: [{ limitName: 'api', ...fixed(10), clients, demands, ...own }],
  }
}

function peaks(demands: LimiterDemands | undefined) {
  const [limit] = demands === undefined ? [] : demandsOf(demands)
  return Object.fromEntries(limit?.demands.map(({ identity, peak }) => [identity, peak]) ?? [])
}

test('the peak of a client is the largest of its steps, and those of processes add up within a step', () => {
  let demands = withDemands(undefined, 'one', [
    finished(START, { ada: 3, bob: 1 }),
    finished(START + 1, { ada: 4 }, {}, ['ada']),
  ])
  demands = withDemands(demands, 'two', [finished(START + 1, { ada: 5, eve: 2 })])
  expect(peaks(demands)).toEqual({ ada: 9, eve: 2, bob: 1 })
  demands = withDemands(demands, 'three', [finished(START, { ada: 100 })])
  expect(peaks(demands)).toEqual({ ada: 100, eve: 2, bob: 1 })
  demands = withDemands(demands, 'four', [finished(START + 1, { ada: 95 })])
  expect(peaks(demands).ada).toBe(104) // 4, 5 and 95 in the second step
  const [limit] = demandsOf(demands as LimiterDemands)
  expect(limit).toMatchObject({
    limitName: 'api',
    limit: 10,
    windowMs: 60_000,
    fromMs: START * 300_000,
    toMs: (START + 2) * 300_000,
    clients: 3,
    demands: [
      { identity: 'ada', wasDenied: true, weight: 1 },
      { identity: 'eve' },
      { identity: 'bob', wasDenied: false },
    ],
  })
})

test('a step that comes again counts once', () => {
  const demands = withDemands(undefined, 'one', [finished(START, { ada: 3 })])
  expect(withDemands(demands, 'one', [finished(START, { ada: 3 })])).toBeUndefined()
})

test('a peak counts for 12 to 24 hours', () => {
  let demands = withDemands(undefined, 'one', [finished(START, { ada: 30, bob: 1 })])
  demands = withDemands(demands, 'one', [finished(START + HALF_DAY, { ada: 3 })])
  expect(peaks(demands)).toEqual({ ada: 30, bob: 1 })
  demands = withDemands(demands, 'one', [finished(START + 2 * HALF_DAY, { ada: 5 })])
  expect(peaks(demands)).toEqual({ ada: 5 })
})

test('of many clients, the 100 largest are kept, and a sample that stands for all others', () => {
  const many = 20_000
  let demands: LimiterDemands | undefined
  for (let step = 0; step < 20; step++) {
    const asked = Array.from({ length: many / 20 }, (_, i) => [
      `client-${step}-${i}`,
      1 + (i === 0 ? 1000 + step : 0),
    ])
    demands = withDemands(demands, 'one', [finished(START + step, Object.fromEntries(asked))]) ?? demands
  }
  const [limit] = demandsOf(demands as LimiterDemands)
  const kept = limit?.demands ?? []
  expect(kept.length).toBeLessThanOrEqual(1000)
  expect(kept.slice(0, 20).map(({ peak, weight }) => [peak, weight])).toEqual(
    Array.from({ length: 20 }, (_, i) => [1020 - i, 1]),
  )
  const weight = kept.reduce((sum, each) => sum + each.weight, 0)
  expect(Math.abs(weight - many) / many).toBeLessThan(0.15)
  expect(Math.abs((limit?.clients ?? 0) - many) / many).toBeLessThan(0.15)
  const text = JSON.stringify(DEMAND_CODEC.encode(demands as LimiterDemands))
  expect(text.length).toBeLessThan(100_000)
})

test('limits are told apart by their numbers, and eight are kept', () => {
  let demands: LimiterDemands | undefined
  for (let limit = 1; limit <= 12; limit++)
    demands = withDemands(demands, 'one', [finished(START + limit, { ada: limit }, fixed(limit))]) ?? demands
  expect(demandsOf(demands as LimiterDemands).map(({ limit }) => limit)).toEqual([12, 11, 10, 9, 8, 7, 6, 5])
})

describe('a limit that the settings brought into force again', () => {
  const BACK_MS = (START + 2) * 300_000 + 60_000
  const since = { sinceMs: BACK_MS }
  const before = () =>
    withDemands(undefined, 'one', [finished(START, { ada: 30, bob: 1 }), finished(START + 2, { ada: 2 })])

  test('starts over with the change of the settings, to the millisecond', () => {
    const demands = withDemands(before(), 'two', [finished(START + 2, { eve: 3 }, since)])
    expect(peaks(demands)).toEqual({ eve: 3 })
    expect(demandsOf(demands as LimiterDemands)).toMatchObject([{ fromMs: BACK_MS, clients: 1 }])
  })

  test('adds up all processes from then on, also one that does not know of the change', () => {
    let demands = withDemands(before(), 'two', [finished(START + 2, { eve: 3 }, since)])
    demands = withDemands(demands, 'three', [finished(START + 2, { eve: 4, bob: 1 }, since)])
    demands = withDemands(demands, 'four', [finished(START + 3, { bob: 5 })])
    expect(peaks(demands)).toEqual({ eve: 7, bob: 5 })
    expect(demandsOf(demands as LimiterDemands)).toMatchObject([{ fromMs: BACK_MS }])
  })

  test('takes nothing that a process tells late of the time before', () => {
    const demands = withDemands(before(), 'two', [finished(START + 2, { eve: 3 }, since)])
    const late = [
      finished(START + 1, { ada: 50 }),
      finished(START + 2, { ada: 60 }, { sinceMs: BACK_MS - 1 }),
    ]
    expect(peaks(withDemands(demands, 'three', late))).toEqual({ eve: 3 })
  })

  test('keeps what it has if it has been in force for longer than it is counted', () => {
    const demands = withDemands(before(), 'two', [finished(START + 2, { eve: 3 }, { sinceMs: 1 })])
    expect(peaks(demands)).toEqual({ ada: 30, eve: 3, bob: 1 })
  })
})

test('values that stay in a process are hashed before they are written', () => {
  const demands = withDemands(undefined, 'one', [
    finished(START, { '=ada@example.com': 3 }),
  ]) as LimiterDemands
  expect(JSON.stringify(DEMAND_CODEC.encode(demands))).not.toContain('ada')
  expect(demandsOf(demands)[0]?.demands).toMatchObject([{ peak: 3 }])
})

test('demands survive JSON, and what is wrong in them is left out', () => {
  const demands = withDemands(undefined, 'one', [finished(START, { ada: 3, bob: 2 })]) as LimiterDemands
  const json = JSON.parse(JSON.stringify(DEMAND_CODEC.encode(demands)))
  const read = DEMAND_CODEC.decode(json) as LimiterDemands
  expect(demandsOf(read)).toEqual(demandsOf(demands))
  const [limit] = json.limits
  const [period] = limit.periods
  const wrong = [
    null,
    { ...limit, limitName: 7 },
    { ...limit, policy: { ...limit.policy, windowMs: -1 } },
    { ...limit, policy: 'x' },
    { ...limit, periods: 'x' },
  ]
  expect(demandsOf(DEMAND_CODEC.decode({ ...json, limits: [limit, ...wrong] }) as LimiterDemands)).toEqual(
    demandsOf(demands),
  )
  const clients = [...period.clients, null, ['x'], ['x', -1, 0, 1, 1], [7, 1, 0, 1, 1]]
  const withWrong = {
    ...json,
    limits: [{ ...limit, periods: [{ ...period, clients }, { ...period, all: 'x' }, null] }],
  }
  expect(demandsOf(DEMAND_CODEC.decode(withWrong) as LimiterDemands)).toEqual(demandsOf(demands))
  expect(DEMAND_CODEC.decode({})).toBeUndefined()
})

test('a bucket has a curve, which is convex and short, and processes divide the refill', () => {
  const bucket = { policy: { kind: 'token-bucket', capacity: 10, intervalMs: 6000 } as const }
  const curve = [90, 40, 25, 12, 5, 5, 5]
  let demands = withDemands(undefined, 'one', [finished(START, { ada: curve }, bucket)])
  expect(JSON.stringify(DEMAND_CODEC.encode(demands as LimiterDemands))).toContain(
    `["ada",[90,40,25,12,5],0,${START}]`,
  )
  demands = withDemands(demands, 'two', [finished(START, { ada: curve }, bucket)])
  const read = DEMAND_CODEC.decode(JSON.parse(JSON.stringify(DEMAND_CODEC.encode(demands as LimiterDemands))))
  const [limit] = demandsOf(read as LimiterDemands)
  // Two that see the same have twice as much in use at half of the refill each. Below that, it is not known.
  const together = [Number.POSITIVE_INFINITY, 147, 80, 50, 24, 10, 10]
  expect([limit?.limit, limit?.windowMs, limit?.demands[0]?.peaks]).toEqual([10, 60_000, together])
})

test('what the limit has seen in all processes is not added up', () => {
  const seen = (step: number, used: number) => {
    const made = finished(step, { ada: 3 })
    const demands = made.demands.map((each) => ({
      ...each,
      demands: each.demands.map((demand) => ({ ...demand, seen: used })),
    }))
    return { ...made, demands }
  }
  const demands = withDemands(undefined, 'one', [seen(START, 70)])
  expect(peaks(withDemands(demands, 'two', [seen(START, 71)]))).toEqual({ ada: 71 })
})

test('a candidate is counted apart from a limit in force with the same numbers', () => {
  const demands = withDemands(undefined, 'one', [
    finished(START, { ada: 3 }),
    finished(START + 1, { ada: 30 }, { isCandidate: true }, ['ada']),
  ]) as LimiterDemands
  const read = DEMAND_CODEC.decode(JSON.parse(JSON.stringify(DEMAND_CODEC.encode(demands))))
  expect(demandsOf(read as LimiterDemands)).toMatchObject([
    { isCandidate: true, demands: [{ peak: 30, wasDenied: true }] },
    { demands: [{ peak: 3, wasDenied: false }] },
  ])
})

/** Eight buckets with many clients in two periods, as they are in a document. */
async function eightBuckets(clientCount: number, length: number) {
  const shared = sharedDocuments()
  const document = () => sharedDocument(shared.documents, 'demands', DEMAND_CODEC)
  const names = Array.from({ length: clientCount }, (_, i) => String(i).padStart(length, 'x'))
  const asked = Object.fromEntries(
    names.map((name, i) => [name, [9, 8, 7, 6, 5, 4, 3].map((n) => n * 1e3 + i)]),
  )
  for (const step of [START, START + HALF_DAY]) {
    const buckets = Array.from({ length: 8 }, (_, i) => {
      const policy = { kind: 'token-bucket', capacity: i + 1, intervalMs: 6000 }
      return finished(step, asked, { policy }).demands
    })
    await document().change((before) => {
      return withDemands(before, 'one', [{ ...finished(step, {}), demands: buckets.flat() }])
    })
  }
  const read = (await document().read()) ?? { added: [], limits: [] }
  return { limits: demandsOf(read), bytes: Buffer.byteLength(shared.texts.get('demands') ?? '') }
}

test.each([
  ['a hash', 22],
  ['eight addresses', 319],
])('eight buckets with many clients of %s in two periods fit into a document', async (_, length) => {
  const { limits, bytes } = await eightBuckets(200, length)
  expect(bytes).toBeLessThanOrEqual(MAX_TEXT)
  const largest = limits.map(({ demands }) => demands.slice(0, 100).map(({ peaks }) => peaks?.[0]))
  expect(largest).toEqual(Array(8).fill(Array.from({ length: 100 }, (_, i) => 9199 - i)))
  const counted = limits.map(({ demands }) => demands.reduce((sum, { weight }) => sum + weight, 0))
  expect(counted.filter((count) => count < 100 || count > 300)).toEqual([])
})

test('if not even the largest clients of all limits fit into a document, some limits are left out', async () => {
  const { limits, bytes } = await eightBuckets(100, 1024)
  expect([bytes <= MAX_TEXT, limits.length]).toEqual([true, 4])
})
