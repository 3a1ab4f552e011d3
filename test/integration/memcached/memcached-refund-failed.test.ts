import type { Policy, Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import type { Client } from 'memjs'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { startAll, stopAll, until } from '../../support/servers/wait.js'
import { refundStore, takeOne } from '../../support/store-calls.js'
import { listenForWarnings } from '../../support/warnings.js'
import { connections } from './clients.js'

const REFUND_FAILED = 'HEADGATE_REFUND_FAILED_IN_STORE'
const COUNTING = LONG_POLICIES.filter(([name]) => name !== 'tokenBucket')

const { open, closeAll } = connections()
let servers: MemcachedServer[] = []

beforeAll(async () => {
  servers = await startAll([startMemcached({ own: true }), startMemcached({ own: true })])
}, INSTALL_TIMEOUT_MS)

afterEach(() => {
  closeAll()
  jest.restoreAllMocks()
})

afterAll(() => stopAll(servers))

beforeEach(() => Promise.all(servers.map((each) => each.restart())))

/**
 * Of memcached's binary protocol: a request's opcode is its second byte, and its length without the header
 * is at 8.
 */
const HEADER_LENGTH = 24
const DECREMENT = 0x06

/** The opcodes of complete requests, as the few of a test are. */
function opcodesIn(requests: Buffer): number[] {
  const opcodes: number[] = []
  for (let at = 0; at < requests.length; at += HEADER_LENGTH + requests.readUInt32BE(at + 8)) {
    opcodes.push(requests.readUInt8(at + 1))
  }
  return opcodes
}

const serverAt = (at: number) => servers[at] as MemcachedServer

/** What the operator reads, once it is there. */
async function firstWarning(): Promise<string> {
  const { mock } = jest.mocked(process.emitWarning)
  await until('a warning is emitted', () => mock.calls.length > 0)
  return String(mock.calls[0]?.[0])
}

describe('a connection lost while a denied charge is refunded', () => {
  let proxy: FaultyProxy

  beforeAll(async () => {
    proxy = await startProxy(serverAt(0))
  })

  afterAll(() => proxy?.stop())

  test.each(COUNTING)('does not change the denial, and emits one warning: %s', async (_, policyOf) => {
    const policy = policyOf(5)
    const warnings = listenForWarnings()
    proxy.behave({ onRequest: (requests) => (opcodesIn(requests).includes(DECREMENT) ? 'reset' : 'pass') })
    const store = memcachedStore(open(proxy.url))
    expect(await takeOne(store, 'key', policy, 5)).toMatchObject({ allowed: true, remaining: 0 })
    for (let i = 0; i < 2; i++) {
      expect(await takeOne(store, 'key', policy)).toMatchObject({ allowed: false, remaining: 0 })
      expect(await firstWarning()).toMatch(/could not be refunded.*ECONNRESET/)
      await until('the client has a new connection', () => remainingOf(store, policy, ['key']))
    }
    expect(warnings()).toEqual([REFUND_FAILED])
    await expectCounted(memcachedStore(open(serverAt(0).url)), policy, 7)
  })

  /** Of a limit of 5: so many units are seen only when some are refunded. */
  async function expectCounted(store: Store, policy: Policy, units: number): Promise<void> {
    await refundStore(store, [{ ...part('key', policy, 3), takenAtMs: Date.now() }])
    expect(await remainingOf(store, policy, ['key'])).toEqual([5 + 3 - units])
  }
})

describe('a server killed while a charge that took units there waits for another server', () => {
  let proxy: FaultyProxy

  beforeAll(async () => {
    proxy = await startProxy(serverAt(1))
  })

  beforeEach(() => proxy.heal())

  afterAll(() => proxy?.stop())

  /** Returns a key that lives on the server at `port`. */
  function keyOn(client: Client, port: number): string {
    const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`)
    const found = keys.find((key) => client.server(key)?.port === port)
    expect(found).toBeDefined()
    return found as string
  }

  test.each(LONG_POLICIES)('does not change the denial, and emits one warning: %s', async (_, policyOf) => {
    const policy = policyOf(5)
    const warnings = listenForWarnings()
    const client = open(`${serverAt(0).url},${proxy.url}`)
    const store = memcachedStore(client)
    const [lost, full] = [keyOn(client, serverAt(0).port), keyOn(client, proxy.port)]
    await takeOne(store, full, policy, 5)
    for (let i = 0; i < 2; i++) {
      await serverAt(0).restart()
      await until('the server answers again', () => remainingOf(store, policy, [lost]))
      const denied = await denyBetween(store, policy, lost, full)
      expect(denied.allowed).toBe(false)
      expect(denied.parts).toMatchObject([{ allowed: true }, { allowed: false, remaining: 0 }])
      expect(await firstWarning()).toContain('could not be refunded')
      expect(await firstWarning()).toContain(`memcached: ${serverAt(0).url}`)
    }
    expect(warnings()).toEqual([REFUND_FAILED])
  })

  /**
   * Charges both keys. The second server's request leaves the proxy only when the first server, which has taken
   * its units by then, is gone.
   */
  async function denyBetween(store: Store, policy: Policy, lost: string, full: string) {
    const atSecondServer = new Promise<void>((resolve) => {
      proxy.behave({
        requestDelayMs: 60_000,
        onRequest: () => {
          resolve()
          return 'pass'
        },
      })
    })
    const call = chargeOne(store, part(lost, policy, 2), part(full, policy))
    await Promise.race([atSecondServer, call])
    await serverAt(0).kill()
    proxy.behave({})
    return call
  }
})
