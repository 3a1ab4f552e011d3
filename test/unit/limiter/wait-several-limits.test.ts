import { createLimiter, fixedWindow, memoryStore, type Policy, tokenBucket } from 'headgate'

beforeEach(() => jest.useFakeTimers({ now: 1e12 })) // where in their windows the charges come
afterEach(() => jest.useRealTimers())

const bucket = (ms: number) => tokenBucket({ capacity: 1, refill: 1, every: `${ms}ms` })

/** A charge of the limits `x` and `y`, or of one of them. */
type Subject = 'x' | 'y' | 'xy'

/** Returns a limiter of two limits, whose calls of `waitFor` record who was allowed. */
function twoLimits(x: Policy, y: Policy) {
  const skip = (name: string) => (subject: Subject) => !subject.includes(name)
  const limiter = createLimiter<Subject>({
    limits: [
      { name: 'x', policy: x, key: () => 'x', skip: skip('x') },
      { name: 'y', policy: y, key: () => 'y', skip: skip('y') },
    ],
    store: memoryStore({ clock: Date.now }),
  })
  const order: Subject[] = []
  const wait = (subject: Subject, options = {}) =>
    limiter.waitFor(subject, options).then(
      ({ allowed }) => void (allowed && order.push(subject)),
      () => {},
    )
  return { limiter, order, wait }
}

describe('a charge of two exhausted limits is not starved by charges of one of them', () => {
  test.each<[string, Policy, Policy, number, number]>([
    ['equal rates', bucket(100), bucket(100), 50, 3],
    ['uneven turns', bucket(100), bucket(100), 30, 3],
    ['different rates', bucket(100), bucket(70), 35, 4],
    ['a slow and a fast one', bucket(1000), bucket(30), 500, 40],
    [
      'windows',
      fixedWindow({ limit: 3, window: '100ms' }),
      fixedWindow({ limit: 3, window: '70ms' }),
      20,
      12,
    ],
  ])('%s', async (_, x, y, offsetMs, most) => {
    const { limiter, order, wait } = twoLimits(x, y)
    for (let i = 0; i < 5; i++) await limiter.charge('x')
    await jest.advanceTimersByTimeAsync(offsetMs)
    for (let i = 0; i < 5; i++) await limiter.charge('y')
    let isOver = false
    const keepWaiting = async (subject: Subject) => {
      while (!isOver && !order.includes('xy')) await wait(subject)
    }
    const waits = [wait('xy'), ...(['x', 'y', 'x', 'y', 'x', 'y'] as const).map(keepWaiting)]
    for (let i = 0; i < 500 && !order.includes('xy'); i++) await jest.advanceTimersByTimeAsync(10)
    const place = order.indexOf('xy')
    isOver = true
    await limiter.close()
    await Promise.all(waits)
    expect({ place, isSoon: place >= 0 && place <= most }).toMatchObject({ isSoon: true })
  })
})

const window = (limit: number, ms: number) =>
  fixedWindow({ limit, window: `${ms}ms`, startsAt: 'first-request' })

/** Lets a charge of both limits wait for `x` first, and then hold a unit of it while it sleeps for `y`. */
async function holding(xLimit = 1) {
  const made = twoLimits(window(xLimit, 1000), window(1, 600))
  const { limiter, wait } = made
  await limiter.charge('x', { cost: xLimit }) // until 1000
  const controller = new AbortController()
  const both = wait('xy', { signal: controller.signal })
  await jest.advanceTimersByTimeAsync(900)
  await limiter.charge('y') // until 1500
  return { ...made, both, controller }
}

describe('while a charge sleeps for its second limit', () => {
  test('it holds its units of the first, and others take the rest', async () => {
    const { limiter, order, wait, both } = await holding(3)
    const others = [1, 2, 3].map(() => wait('x', { maxWait: '10s' }))
    await jest.advanceTimersByTimeAsync(200)
    expect(order).toEqual(['x', 'x'])
    await jest.advanceTimersByTimeAsync(400)
    expect(order).toEqual(['x', 'x', 'xy'])
    await jest.advanceTimersByTimeAsync(1000)
    await Promise.all([both, ...others])
    expect(order).toEqual(['x', 'x', 'xy', 'x'])
    await limiter.close()
  })

  test('an abort frees what it holds', async () => {
    const { limiter, order, wait, both, controller } = await holding()
    const other = wait('x')
    await jest.advanceTimersByTimeAsync(200)
    expect(order).toEqual([])
    controller.abort()
    await jest.advanceTimersByTimeAsync(0)
    expect(order).toEqual(['x'])
    await Promise.all([both, other])
    await limiter.close()
  })

  test('it holds nothing if that would take longer than the units take to come back', async () => {
    const { limiter, order, wait } = twoLimits(window(1, 100), window(1, 10_000))
    await limiter.charge('x') // until 100
    const both = wait('xy')
    await jest.advanceTimersByTimeAsync(50)
    await limiter.charge('y') // until 10,050
    const others = [1, 2, 3].map(() => wait('x'))
    await jest.advanceTimersByTimeAsync(400)
    await Promise.all(others)
    expect(order).toEqual(['x', 'x', 'x'])
    await jest.advanceTimersByTimeAsync(10_000)
    await both
    await limiter.close()
  })
})
