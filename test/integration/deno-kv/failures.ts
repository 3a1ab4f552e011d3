import assert from 'node:assert/strict'
import { fixedWindow, StoreError, slidingLog } from 'headgate'
import { denoKvStore } from 'headgate/deno-kv'
import type { Operation } from 'headgate/store'
import type { TestCase } from 'headgate/testing'
import { kvCommit, storedIn } from '../../../src/stores/deno-kv/commit.js'
import { chargeOne, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { forgetStore } from '../../support/store-calls.js'
import { openKv, type TestKv } from './open.js'
import { watched } from './watched.js'

const policy = fixedWindow({ limit: 100, window: '1000d' })

const chargeOf = (...keys: readonly string[]): Operation => ({
  type: 'charge',
  parts: keys.map((key) => part(key, policy)),
})

const tests: Readonly<Record<string, (kv: TestKv) => Promise<void>>> = {
  async 'a commit that Deno sends twice, because its reply was lost, is counted once'(kv) {
    const twice = watched(kv, async (atomic) => {
      await atomic.commit()
      return atomic.commit() // fails its checks
    })
    const store = denoKvStore(twice.kv)
    for (const [i, keys] of [['a'], ['a', 'b'], ['b']].entries()) {
      const [outcome] = await store.apply([chargeOf(...keys)])
      assert.equal(outcome instanceof Error ? outcome : outcome?.type, 'charge')
      assert.equal(twice.calls.commits, i + 1)
    }
    assert.deepEqual(await remainingOf(denoKvStore(kv), policy, ['a', 'b']), [98, 98])
  },

  async 'a commit that was sent twice, with commits of others in between, is counted once'(kv) {
    for (const [processes, commits] of [
      [1, 1],
      [1, 90],
      [3, 30],
      [15, 1],
    ] as const) {
      const key = `${processes} processes commit ${commits} times`
      const others = Array.from({ length: processes }, () => denoKvStore(kv))
      const late = watched(kv, async (atomic) => {
        await atomic.commit()
        for (let i = 0; i < commits; i++) for (const other of others) await other.apply([chargeOf(key)])
        return atomic.commit()
      })
      await chargeOne(denoKvStore(late.kv), part(key, policy))
      assert.equal(late.calls.commits, 1)
      assert.deepEqual(await remainingOf(denoKvStore(kv), policy, [key]), [99 - processes * commits])
    }
  },

  async 'a commit that was sent twice, with another of its process in between, is counted once'(kv) {
    let sent = 0
    const twice = watched(kv, async (atomic) => {
      const first = await atomic.commit()
      if (sent++ > 0) return first
      assert.equal(await commit(await transaction()), true)
      return atomic.commit()
    })
    const commit = kvCommit(twice.kv, (key) => [key])
    const transaction = async () => {
      const version = storedIn(await kv.get(['key']))?.version
      return { checks: [{ key: 'key', version }], writes: [{ key: 'key', state: [1], ttlMs: 60_000 }] }
    }
    assert.equal(await commit(await transaction()), true)
    assert.equal(twice.calls.commits, 2)
  },

  async 'a write that keeps its expiry moves it to a later time only'(kv) {
    const commit = kvCommit(kv, (key) => [key])
    const expiryAfter = async (ttlMs: number, keepsExpiry?: true) => {
      const version = storedIn(await kv.get(['key']))?.version
      const write = { key: 'key', state: [1], ttlMs, ...(keepsExpiry && { keepsExpiry }) }
      assert.equal(await commit({ checks: [{ key: 'key', version }], writes: [write] }), true)
      return storedIn(await kv.get(['key']))?.version.expiresAtMs ?? 0
    }
    const firstMs = await expiryAfter(3_600_000)
    assert.equal(await expiryAfter(1000, true), firstMs)
    assert.ok((await expiryAfter(7_200_000, true)) > firstMs)
    assert.ok((await expiryAfter(1000)) < firstMs)
    assert.equal(await expiryAfter(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY)
    assert.equal(await expiryAfter(1000, true), Number.POSITIVE_INFINITY)
  },

  async 'a commit that cannot be told from others has an unknown outcome, and is not repeated'(kv) {
    const others = Array.from({ length: 16 }, () => denoKvStore(kv))
    const late = watched(kv, async (atomic) => {
      await atomic.commit()
      for (const other of others) await other.apply([chargeOf('key')])
      return atomic.commit()
    })
    await assert.rejects(chargeOne(denoKvStore(late.kv), part('key', policy)), (error) => {
      assert.ok(error instanceof StoreError)
      assert.match(
        error.message,
        /^deno-kv: other processes changed a key, so it is unknown whether a commit was applied$/,
      )
      assert.equal(error.replied, false)
      return true
    })
    assert.equal(late.calls.commits, 1)
    assert.deepEqual(await remainingOf(denoKvStore(kv), policy, ['key']), [83])
  },

  async 'a commit that met others and was not applied is repeated on their state'(kv) {
    const other = denoKvStore(kv)
    let met = 0
    const store = denoKvStore(
      watched(kv, async (atomic) => {
        if (met++ === 0) await other.apply([chargeOf('key')])
        return atomic.commit()
      }).kv,
    )
    await chargeOne(store, part('key', policy))
    assert.deepEqual([met, await remainingOf(other, policy, ['key'])], [2, [98]])
  },

  async 'a commit that met another commit of the last writer is repeated, even if 16 processes wrote the key'(
    kv,
  ) {
    const others = Array.from({ length: 16 }, () => denoKvStore(kv))
    for (const other of others) await other.apply([chargeOf('key')])
    let met = 0
    const store = denoKvStore(
      watched(kv, async (atomic) => {
        if (met++ === 0) await others.at(-1)?.apply([chargeOf('key')])
        return atomic.commit()
      }).kv,
    )
    await chargeOne(store, part('key', policy))
    assert.deepEqual([met, await remainingOf(store, policy, ['key'])], [2, [82]])
  },

  async 'a commit is not taken for one that its process made 65,536 commits earlier'(kv) {
    let isSent = true
    const counted = watched(kv, async (atomic) => (isSent ? atomic.commit() : { ok: true }))
    const commit = kvCommit(counted.kv, (key) => [key])
    const version = async () => storedIn(await kv.get(['key']))?.version
    const transactionOn = async () => ({
      checks: [{ key: 'key', version: await version() }],
      writes: [{ key: 'key', state: [1], ttlMs: 60_000 }],
    })
    assert.equal(await commit(await transactionOn()), true)
    const late = await transactionOn()
    isSent = false
    for (let i = 1; i < 2 ** 16; i++) await commit(late)
    isSent = true
    assert.equal(await kvCommit(kv, (key) => [key])(await transactionOn()), true)
    assert.equal(await commit(late), false)
  },

  async 'a lost reply is an unknown outcome, and not repeated'(kv) {
    const lost = watched(kv, async (atomic) => {
      await atomic.commit()
      throw new Error('connection reset')
    })
    await assert.rejects(chargeOne(denoKvStore(lost.kv), part('key', policy)), (error) => {
      assert.ok(error instanceof StoreError && !error.replied && !error.unsent)
      return /^deno-kv: connection reset$/.test(error.message)
    })
    assert.equal(lost.calls.commits, 1)
    assert.deepEqual(await remainingOf(denoKvStore(kv), policy, ['key']), [99])
  },

  async 'a charge is one read and one commit, and a denial one read'(kv) {
    const { kv: counted, calls } = watched(kv)
    const store = denoKvStore(counted)
    await chargeOne(store, part('a', policy, 60), part('b', policy))
    assert.deepEqual(calls, { reads: 1, commits: 1 })
    await chargeOne(store, part('a', policy, 60), part('b', policy))
    assert.deepEqual(calls, { reads: 2, commits: 1 })
  },

  async 'a hundred charges that arrive together are one commit'(kv) {
    const { kv: counted, calls } = watched(kv)
    await denoKvStore(counted).apply(Array.from({ length: 100 }, (_, i) => chargeOf(`key-${i}`)))
    assert.deepEqual(calls, { reads: 10, commits: 1 })
  },

  async 'a charge of a hundred keys of any length is one commit, and one of more says so'(kv) {
    const store = denoKvStore(kv)
    const keys = Array.from({ length: 101 }, (_, i) => `${i}${'ß'.repeat(10 * i)}${'x'.repeat(250)}`)
    const [hundred] = await store.apply([chargeOf(...keys.slice(1))])
    assert.equal(hundred instanceof Error ? hundred : hundred?.type, 'charge')
    await assert.rejects(
      chargeOne(store, ...keys.map((key) => part(key, policy))),
      /Too many checks.*A charge can name at most 100 keys\.$/,
    )
  },

  async 'states that together are too large for a commit are split'(kv) {
    const log = slidingLog({ limit: 1000, window: '1d' })
    const large = (key: string): Operation => ({ type: 'charge', parts: [part(key, log, 1000)] })
    const { kv: counted, calls } = watched(kv)
    const outcomes = await denoKvStore(counted).apply(Array.from({ length: 100 }, (_, i) => large(`${i}`)))
    for (const outcome of outcomes) assert.equal(outcome instanceof Error ? outcome : outcome.type, 'charge')
    assert.equal(calls.commits, 2)
  },

  async 'foreign values fail their key alone and stay, until it is forgotten'(kv) {
    const store = denoKvStore(kv)
    const values = [
      'text',
      7,
      [1, 2],
      { state: 'x', commits: [] },
      { state: [1], commits: [] },
      new Uint8Array(16),
    ]
    for (const [i, value] of values.entries()) {
      await kv.set(['headgate', `foreign-${i}`], value)
      const [theirs, ours] = await store.apply([chargeOf(`foreign-${i}`), chargeOf('key')])
      assert.match(String(theirs), /holds a value that is not a state of its policy/)
      assert.ok(!(ours instanceof Error))
      assert.deepEqual((await kv.get(['headgate', `foreign-${i}`])).value, value)
      await forgetStore(store, [{ key: `foreign-${i}`, policy }])
      assert.equal((await chargeOne(store, part(`foreign-${i}`, policy))).allowed, true)
    }
  },

  async 'keys outside the prefix are left alone'(kv) {
    await kv.set(['users', 'ada'], { name: 'Ada' })
    await denoKvStore(kv).apply([chargeOf('ada')])
    const keys: unknown[] = []
    for await (const { key } of kv.list({ prefix: [] })) keys.push(key)
    assert.deepEqual(keys, [
      ['headgate', 'ada'],
      ['users', 'ada'],
    ])
  },

  async 'a KV that was closed fails the charge with the fix'(kv) {
    const store = denoKvStore(kv)
    kv.close()
    await assert.rejects(
      chargeOne(store, part('key', policy)),
      /^StoreError: deno-kv: Bad resource ID\. The KV is closed\. Close it only after the last request\.$/,
    )
  },

  async 'wrong arguments throw with the fix'() {
    for (const [wrong, message] of [
      [undefined, /kv must be a Deno\.Kv, got undefined\. Write denoKvStore\(await Deno\.openKv\(\)\)\.$/],
      [openKv(), /kv must be a Deno\.Kv, got an object\. Await it: denoKvStore\(await Deno\.openKv\(\)\)\.$/],
    ] as const)
      assert.throws(() => denoKvStore(wrong as never), message)
  },
}

/** What the store does when things go wrong, and what it costs, on a KV for each test. */
export const failures: readonly TestCase[] = Object.entries(tests).map(([name, body]) => ({
  name,
  async run() {
    const kv = await openKv()
    try {
      await body(kv)
    } finally {
      try {
        kv.close()
      } catch {
        // The test has closed it.
      }
    }
  },
}))
