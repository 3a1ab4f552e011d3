import { slidingWindow } from 'headgate'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { startProxy } from '../../support/proxy.js'
import { chargeRepeatedly, faultsIn, newTally, sumOf } from '../../support/tally.js'
import { newKey, useDynalite } from './use-dynalite.js'

jest.setTimeout(600_000)

const tables = useDynalite()

test('callers whose requests take 1.5 seconds are all decided, while others charge the key', async () => {
  const proxy = await startProxy({ host: '127.0.0.1', port: tables.server.port })
  proxy.behave({ requestDelayMs: 1500 })
  const policy = slidingWindow({ limit: 1_000_000, window: '1000d' })
  const [key, fast] = [newKey(), newTally()]
  const load = { parts: [part(key, policy)], callers: 1 }
  const slow = Array.from({ length: 10 }, newTally)
  const slowly = slow.map((tally) => {
    const store = tables.store(tables.open({}, proxy.port))
    return chargeRepeatedly(store, { ...load, tally, goesOn: () => tally.sent < 3 })
  })
  let isOver = false
  const busy = Array.from({ length: 5 }, () =>
    chargeRepeatedly(tables.store(), { ...load, tally: fast, goesOn: () => !isOver }),
  )
  await Promise.all(slowly)
  isOver = true
  await Promise.all(busy)
  const [remaining = 0] = await remainingOf(tables.store(), policy, [key])
  console.info(JSON.stringify({ slow: sumOf(slow), fast, counted: policy.limit - remaining }))
  expect(sumOf(slow)).toEqual({ sent: 30, allowed: 30, denied: 0, uncounted: 0 })
  expect(faultsIn(fast, policy.limit - remaining - 30)).toEqual({ lost: 0, doubled: 0 })
  await proxy.stop()
})
