import { sharedDocuments } from '../dashboard/shared/shared-documents.js'
import { type Demand, SharedWorld } from './shared-world.js'

/** Starts processes whose rounds are at different times. */
function startProcesses(count: number, tenants: readonly string[], weightOf?: (id: string) => number) {
  const store = sharedDocuments()
  const world = new SharedWorld(weightOf)
  const start = (phaseMs: number) => world.start(store.documents, tenants, { phaseMs })
  for (let i = 0; i < count; i++) start(250 * (i % 4))
  return { ...store, world, start }
}

const rounded = (numbers: readonly number[]) => numbers.map((each) => Math.round(100 * each) / 100)

describe('the weight of a tenant', () => {
  /** The first uses one process, the second all alike, and the third only tries. */
  const demand: Demand = (process, id) => (id === 'one' ? (process === 0 ? 8 : 0) : id === 'all' ? 2 : 0)

  test('is divided among processes by the places that it uses in each', async () => {
    const { world } = startProcesses(4, ['one', 'all', 'none'], (id) => (id === 'all' ? 3 : 1))
    await world.run(20_000, demand)
    // (1 place as if it were everywhere + 8 × 4 processes) / (1 + 8), and 1 / (1 + 8)
    expect(rounded(world.factors('one'))).toEqual([3.67, 0.11, 0.11, 0.11])
    expect(rounded(world.factors('all'))).toEqual([1, 1, 1, 1])
    expect(rounded(world.factors('none'))).toEqual([1, 1, 1, 1])
  })

  test('of one process is divided from that of a larger one by its places', async () => {
    const { documents } = sharedDocuments()
    const world = new SharedWorld()
    for (const limit of [30, 10]) world.start(documents, ['even', 'small'], { limit })
    await world.run(20_000, (process, id) =>
      id === 'even' ? (process === 0 ? 6 : 2) : process === 1 ? 4 : 0,
    )
    expect(rounded(world.factors('even'))).toEqual([1, 1])
    expect(rounded(world.factors('small'))).toEqual([0.2, 3.4]) // (1 + 4 × 4) / (1 + 4)
  })

  test('is whole again in a process that is alone', async () => {
    const { world } = startProcesses(4, ['one'])
    await world.run(20_000, demand)
    const [first, ...others] = world.sharers
    for (const { shared } of others) await shared.close()
    world.sharers.splice(1)
    await first?.shared.round()
    expect(world.factors('one')).toEqual([1])
  })

  test('does not depend on documents that have not changed for 3 s', async () => {
    const { world } = startProcesses(2, ['one'])
    await world.run(10_000, demand)
    world.sharers.splice(0, 1) // vanishes with what it has told
    const seen: number[] = []
    await world.run(4000, demand, () => seen.push(...rounded(world.factors('one'))))
    expect([seen[0], seen.at(-1)]).toEqual([0.11, 1])
  })
})

describe('a tenant that moves', () => {
  const N = 8
  const random = (seed: number) => () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  const moves: readonly (readonly [string, Demand])[] = [
    ['begins in all processes at once', (_, __, ms) => (ms < 10_000 ? 0 : 10)],
    ['moves from one process to all others', (process, _, ms) => (ms < 10_000 === (process === 0) ? 10 : 0)],
    ['goes around', (process, _, ms) => (Math.floor(ms / 1000) % N === process ? 10 : 0)],
    ['comes and goes', (_, __, ms) => (Math.floor(ms / 2000) % 2 === 0 ? 10 : 0)],
    ['grows', (_, __, ms) => Math.min(500, 2 ** (ms / 1000 - 10))],
    ...[1, 2, 3, 4].map((seed): readonly [string, Demand] => {
      const next = random(seed)
      return [`moves at random (${seed})`, () => (next() < 0.3 ? Math.floor(next() * 20) : 0)]
    }),
  ]

  test.each(moves)('that %s has at most 1.7 times its weight meanwhile', async (_name, demand) => {
    const { world } = startProcesses(N, ['mover'])
    let most = 0
    await world.run(30_000, demand, () => {
      const parts = world.factors('mover').map((factor) => factor / N)
      most = Math.max(
        most,
        parts.reduce((sum, part) => sum + part, 0),
      )
    })
    expect(most).toBeLessThanOrEqual(1.7)
    expect(most).toBeGreaterThanOrEqual(1)
  })

  test('has its own weight again within 5 s of a move', async () => {
    const { world } = startProcesses(N, ['mover'])
    await world.run(10_000, (process) => (process === 0 ? 10 : 0))
    await world.run(5000, (process) => (process === 0 ? 0 : 10))
    const whole = world.factors('mover').reduce((sum, factor) => sum + factor / N, 0)
    expect([whole > 0.8, whole < 1.2]).toEqual([true, true])
  })
})

describe('documents', () => {
  const even: Demand = () => 2

  test('hold the largest 200 tenants by their hashes, and stay small', async () => {
    const ids = Array.from({ length: 300 }, (_, i) => `${'customer'.repeat(100)} ${i}`)
    const { world, texts } = startProcesses(2, ids)
    await world.run(6000, (_, id) => 1 + ids.indexOf(id))
    const text = texts.get('hg:overload:api/0') ?? ''
    const { uses } = JSON.parse(text).shares
    const places = uses.map(([, each]: [string, number]) => each)
    expect({ count: uses.length, isShort: text.length < 6000, hasNames: text.includes('customer') }).toEqual({
      count: 200,
      isShort: true,
      hasNames: false,
    })
    expect(Math.min(...places)).toBeGreaterThan(90)
  })

  test('are as many as processes, and are taken over', async () => {
    const { world, texts, start } = startProcesses(3, ['a'])
    await world.run(6000, even)
    for (let i = 0; i < 5; i++) {
      world.sharers.splice(0, 2) // vanish
      start(0)
      start(500)
      await world.run(8000, even)
    }
    expect([...texts.keys()]).toEqual(['hg:overload:api/0', 'hg:overload:api/1', 'hg:overload:api/2'])
    expect(rounded(world.factors('a'))).toEqual([1, 1, 1])
  })

  test('of processes that have closed are free at once', async () => {
    const { world, texts, start } = startProcesses(2, ['a'])
    await world.run(6000, even)
    await world.sharers.shift()?.shared.close()
    expect(texts.get('hg:overload:api/0')).toBe('')
    start(0)
    await world.run(6000, even)
    expect(texts.size).toBe(2)
  })

  test('of others are left alone, and do not count', async () => {
    const { world, texts, damaged } = startProcesses(2, ['a'])
    const foreign = [
      'not JSON',
      '[]',
      'null',
      '{"headgate":2,"shares":{"id":"x","round":1,"limit":1,"uses":[]}}',
      '{"headgate":1,"shares":{"id":"x","round":1,"limit":-1,"uses":[]}}',
      '{"headgate":1,"shares":{"id":"x","round":1,"limit":1e300,"uses":[]}}',
      '{"headgate":1,"shares":{"id":7,"round":1,"limit":1,"uses":{}}}',
    ]
    for (const [i, text] of foreign.entries()) texts.set(`hg:overload:api/${i}`, text)
    damaged.add(`hg:overload:api/${foreign.length}`)
    await world.run(15_000, even, () => {
      for (const [i, text] of foreign.entries())
        if (i % 2 === 0) texts.set(`hg:overload:api/${i}`, `${text} `)
    })
    expect(foreign.map((text, i) => texts.get(`hg:overload:api/${i}`)?.trim() === text)).not.toContain(false)
    expect([...texts.keys()].slice(foreign.length)).toEqual(['hg:overload:api/8', 'hg:overload:api/9'])
    expect(rounded(world.factors('a'))).toEqual([1, 1])
  })

  test('with hostile figures count as what is valid in them', async () => {
    const { world, texts } = startProcesses(1, ['a'])
    const uses = [
      ['x'.repeat(17), 5],
      ['new', -1],
      ['new', null],
      'new',
      [7, 7],
      ...Array(999).fill(['b', 1]),
    ]
    let round = 0
    const write = () => texts.set('hg:overload:api/0', hostileText(round++, uses))
    await world.run(15_000, even, write)
    expect(rounded(world.factors('a'))).toEqual([1.67]) // (1 + 2 × 2) / (1 + 2): of two processes
  })
})

const hostileText = (round: number, uses: readonly unknown[]) =>
  JSON.stringify({ headgate: 1, shares: { id: 'x', round, limit: 10, uses } })

describe('a store', () => {
  const one: Demand = (process) => (process === 0 ? 8 : 0)

  test('that fails leaves each process on its own shares after 3 s', async () => {
    const { world, set } = startProcesses(2, ['a'])
    await world.run(10_000, one)
    expect(rounded(world.factors('a'))).toEqual([1.89, 0.11])
    set('fail')
    await world.run(2000, one)
    expect(rounded(world.factors('a'))).toEqual([1.89, 0.11])
    await world.run(3000, one)
    expect(rounded(world.factors('a'))).toEqual([1, 1])
    expect(world.sharers[0]?.shared.error()?.message).toContain('connection lost')
    set('none')
    await world.run(10_000, one)
    expect(rounded(world.factors('a'))).toEqual([1.89, 0.11])
    expect(world.sharers[0]?.shared.error()?.message).toBeUndefined()
  })

  test('that hangs gets one call, and does so too', async () => {
    jest.useFakeTimers({ advanceTimers: false })
    try {
      const { world, set, calls } = startProcesses(2, ['a'])
      const [sharer] = world.sharers
      await world.run(10_000, one)
      expect(rounded(world.factors('a'))).toEqual([1.89, 0.11])
      set('hang')
      const before = calls.length
      for (let i = 0; i < 5; i++) {
        const round = sharer?.shared.round()
        await jest.advanceTimersByTimeAsync(1000)
        await round
        world.nowMs += 1000
      }
      expect(calls.length - before).toBe(1)
      expect(world.factors('a')[0]).toBe(1)
      expect(sharer?.shared.error()?.message).toContain('no reply within 800 ms')
      set('none')
    } finally {
      jest.useRealTimers()
    }
  })

  test('that loses replies has one document for each process', async () => {
    const { world, texts, set } = startProcesses(2, ['a'])
    set('lose')
    await world.run(10_000, one)
    expect(texts.size).toBe(2)
  })

  test('that loses all documents gets them again', async () => {
    const { world, texts } = startProcesses(2, ['a'])
    await world.run(10_000, one)
    texts.clear()
    await world.run(10_000, one)
    expect(texts.size).toBe(2)
    expect(rounded(world.factors('a'))).toEqual([1.89, 0.11])
  })
})
