import { fixedWindow, StoreError } from 'headgate'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { startProxy } from '../../support/proxy.js'
import { metered } from './clients.js'
import { describeKills, describeLostReplies } from './losses.js'
import { newKey, useDynalite } from './use-dynalite.js'

const tables = useDynalite()

describeKills(tables, { processes: 2, limit: 100 })
describeLostReplies(tables, 60)

test('a charge whose reply is lost has an unknown outcome, and is not repeated', async () => {
  const policy = fixedWindow({ limit: 1000, window: '1000d' })
  const proxy = await startProxy({ host: '127.0.0.1', port: tables.server.port })
  const { client, costs } = metered(tables.open({}, proxy.port))
  const store = tables.store(client)
  const key = newKey()
  await chargeOne(store, part(key, policy))
  proxy.behave({ cutReplyAt: 0 })
  const failure = await chargeOne(store, part(key, policy)).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(StoreError)
  expect(failure).toMatchObject({ replied: false, unsent: false })
  expect(costs.requests).toEqual({ update: 2 })
  await proxy.heal()
  expect(await remainingOf(store, policy, [key])).toEqual([998])
  await proxy.stop()
})
