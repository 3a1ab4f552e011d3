import type { Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { receiptOf, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { forgetStore, refundStore } from '../../support/store-calls.js'
import { connections } from './clients.js'
import { expiriesOn } from './items.js'

const { open, closeAll } = connections()
let server: MemcachedServer
let store: Store

beforeAll(async () => {
  server = await startMemcached({ own: true })
  store = memcachedStore(open(server.url))
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  closeAll()
  await server?.stop()
})

describe('keys that memcached would reject', () => {
  const KEYS = [
    'x'.repeat(221),
    'x'.repeat(250),
    `${'x'.repeat(250)}y`,
    'x'.repeat(10_000),
    '',
    ' ',
    'a b',
    'a\tb',
    'a\r\nb',
    'set a 0 0 1\r\n1',
    'a\0b',
    'a\x7fb',
    'é',
    '🙂',
    '👩‍👩‍👧',
    '\ud83d', // half a pair
    '\ude42',
    '\ufffd', // what UTF-8 makes of either
  ]

  test.each(LONG_POLICIES)(
    'are distinct, refunded and forgotten, as items of at most 250 plain bytes: %s',
    async (_, policyOf) => {
      const policy = policyOf(100)
      const receipts = await Promise.all(KEYS.map((key, i) => receiptOf(store, key, policy, i + 1)))
      expect(await remainingOf(store, policy, KEYS)).toEqual(KEYS.map((_key, i) => 99 - i))
      const items = [...(await expiriesOn(server)).keys()]
      expect(items).toHaveLength(KEYS.length)
      for (const item of items) expect(item).toMatch(/^[!-~]{1,250}$/)
      await refundStore(
        store,
        receipts.map((receipt) => ({ ...receipt, cost: 1 })),
      )
      expect(await remainingOf(store, policy, KEYS)).toEqual(KEYS.map((_key, i) => 100 - i))
      await forgetStore(
        store,
        KEYS.map((key) => ({ key, policy })),
      )
      expect((await expiriesOn(server)).size).toBe(0)
    },
  )
})
