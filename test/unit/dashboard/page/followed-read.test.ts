import { pageModule } from '../../../support/page-module.js'

interface SomeEvent {
  readonly id: string
  readonly kind: string
}

interface Followed {
  load(...given: unknown[]): Promise<void>
  follow(events: readonly SomeEvent[]): void
  expire(): void
}

const { followedRead } = pageModule<{ followedRead(options: object): Followed }>('followed-read.js')

/** Reads that are answered by hand, and what of them was shown. */
function given(options: object = {}) {
  const answers: ((isComplete: boolean) => Promise<void>)[] = []
  const shown: number[] = []
  const followed = followedRead({
    read: async (isLatest: () => boolean) => {
      const index = answers.length
      const isComplete = await new Promise<boolean>((resolve) => {
        answers.push(async (value) => {
          resolve(value)
          for (let i = 0; i < 5; i++) await undefined
        })
      })
      if (isLatest()) shown.push(index)
      return isComplete
    },
    concerns: ({ kind }: SomeEvent) => kind === 'settings',
    ...options,
  })
  return { ...followed, answers, shown }
}

const event = (id: string, kind = 'settings') => ({ id, kind })

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

test('what a view shows is read once, and again for each event that concerns it', async () => {
  const { follow, answers } = given()
  const reads = [[], [], [event('b', 'block')], [event('1')], [event('1')], [event('1'), event('2')]].map(
    (events) => {
      follow(events)
      return answers.length
    },
  )
  expect(reads).toEqual([1, 1, 1, 2, 2, 3])
})

test('the event of a change that was read already, such as one made here, has nothing read again', async () => {
  const included = new Set(['mine'])
  const { follow, load, answers } = given({ includes: ({ id }: SomeEvent) => included.has(id) })
  void load()
  await answers[0]?.(true)
  follow([event('mine')])
  expect(answers).toHaveLength(1)
  follow([event('mine'), event('theirs')])
  expect(answers).toHaveLength(2)
})

test('a failed read is tried again after five seconds, and a complete one is read again when it is old', async () => {
  const { follow, answers } = given({ freshMs: 60_000 })
  const readsAfter = (ms: number) => {
    jest.advanceTimersByTime(ms)
    follow([])
    return answers.length
  }
  const first = readsAfter(0)
  await answers[0]?.(false)
  const retried = [readsAfter(4999), readsAfter(1)]
  await answers[1]?.(true)
  expect([first, ...retried, readsAfter(59_999), readsAfter(1)]).toEqual([1, 1, 2, 2, 3])
})

test('an earlier read that ends later shows nothing, and has nothing tried again', async () => {
  const { follow, load, expire, answers, shown } = given()
  void load()
  void load()
  await answers[1]?.(true)
  await answers[0]?.(false)
  jest.advanceTimersByTime(6000)
  follow([])
  expect([shown, answers.length]).toEqual([[1], 2])
  expire()
  follow([])
  expect(answers).toHaveLength(3)
})
