import { fixedWindow, slidingWindow, tokenBucket } from 'headgate'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { newKey, type Tables } from './use-dynalite.js'

/** Defines the tests of charges and changes that meet in one process. */
export function describeMeetings({ store: open }: Tables): void {
  test('charges that name two keys in opposite order, all at once, take exactly what is admitted', async () => {
    const ten = slidingWindow({ limit: 10, window: '1000d' })
    const keys = [newKey(), newKey()]
    const store = open()
    const [there = [], back = []] = [keys, keys.toReversed()].map((all) => all.map((key) => part(key, ten)))
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) => chargeOne(store, ...(i % 2 ? there : back))),
    )
    const { length } = results.filter(({ allowed }) => allowed)
    expect(await remainingOf(store, ten, keys)).toEqual([10 - length, 10 - length])
    for (let taken = length; taken <= 10; taken++)
      expect(await chargeOne(store, ...there)).toMatchObject({ allowed: taken < 10 })
  })

  test('a document loses no change of several processes at once', async () => {
    const key = newKey()
    async function append(number: number): Promise<void> {
      const { documents } = open()
      for (let isWritten = false; !isWritten; ) {
        const [found] = (await documents?.read([{ key }])) ?? []
        const text = `${found?.text ?? ''}${number}`
        isWritten = (await documents?.replace(key, text, found?.version)) ?? false
      }
    }
    await Promise.all([1, 2, 3, 4, 5].map(append))
    const [found] = (await open().documents?.read([{ key }])) ?? []
    expect([...(found?.text ?? '')].toSorted()).toEqual(['1', '2', '3', '4', '5'])
  })
}

/** Defines the tests of processes that charge one key at once, as functions that serve one request do. */
export function describeAtOnce(tables: Tables, processes: readonly number[]): void {
  describe.each(processes)('%i processes that each serve one request of one key at once', (count) => {
    test.each([
      ['tokenBucket', tokenBucket({ capacity: 30, refill: 30, every: '1000d' })],
      ['slidingWindow', slidingWindow({ limit: 30, window: '1000d' })],
      ['fixedWindow', fixedWindow({ limit: 30, window: '1000d' })],
    ])('decide all of them, up to the limit: %s', async (_, thirty) => {
      const stores = Array.from({ length: count }, () => tables.store(tables.open()))
      const key = newKey()
      const results = await Promise.all(stores.map((store) => chargeOne(store, part(key, thirty))))
      expect(results.filter(({ allowed }) => allowed)).toHaveLength(Math.min(30, count))
    })
  })
}
