import { ban, slidingLog } from 'headgate'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const bans = { after: 1, within: LONG, for: LONG } as const
const thousand = ban(slidingLog({ limit: 1000, window: LONG }), bans)
const five = ban(slidingLog({ limit: 5, window: LONG }), bans)

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)

  test('a log of 1,000 units with a ban is kept, also while a log of 5 counts denials on its key', async () => {
    const { store } = await database.makeStore()
    expect(await chargeOne(store, part('key', thousand, 990))).toMatchObject({ allowed: true })
    expect(await chargeOne(store, part('key', thousand, 3))).toMatchObject({ allowed: true })
    expect(await remainingOf(store, thousand, ['key'])).toEqual([7])
    expect(await chargeOne(store, part('key', five, 1))).toMatchObject({ allowed: false })
    const banned = await chargeOne(store, part('key', thousand, 1))
    expect(banned).toMatchObject({ allowed: false, parts: [{ remaining: 0 }] })
  })
})
