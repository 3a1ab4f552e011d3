import * as fc from 'fast-check'
import {
  ban,
  concurrency,
  consecutive,
  fixedWindow,
  type Policy,
  quota,
  type Store,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { customRedisStore, redisStore } from 'headgate/redis'
import type { Block, KeyedPolicy, Part, Reward, State, Take } from 'headgate/store'
import { keyCodeOf, kindOf } from '../../../src/policies/spec.js'
import { LUA_KINDS } from '../../../src/stores/redis/lua/kinds.js'
import { stateIn } from '../../../src/stores/redis/stored-state.js'
import { applyOperation, evaluateCharge } from '../../../src/stores/shared/apply-batch.js'
import { stateWrite } from '../../../src/stores/shared/state-write.js'
import { figures, part } from '../../../src/testing/conformance/store-calls.js'
import { type LuaServer, startLuaServer } from '../../support/lua/lua-server.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import {
  chargeStore,
  forgetStore,
  refundStore,
  renewStore,
  type TakenUnits,
} from '../../support/store-calls.js'

const MOST = Number.MAX_SAFE_INTEGER
const BUCKET = tokenBucket({ capacity: 5, refill: 7, every: '1s' })
/** A cost whose time, in a product of integers of 64 bits, is that of a cost of 1. */
const WRAPPING_COST = 2 ** 52 + 1
const WRAPPING = tokenBucket({ capacity: 5, refill: 1, every: 2 ** 12 })
const SLIDING = slidingWindow({ limit: 6, window: '997ms', slices: 3 })
const LOG = slidingLog({ limit: 5, window: '997ms' })
const FIXED = fixedWindow({ limit: 3, window: '700ms' })
const FIRST = fixedWindow({ limit: 3, window: '700ms', startsAt: 'first-request' })
const CONSECUTIVE = consecutive({ limit: 4 })
const QUOTA = quota({ limit: 4, per: 'day', timeZone: 'America/Havana' })
/** They share keys with those above. */
const OTHER_NUMBERS: readonly Policy[] = [
  tokenBucket({ capacity: 8, refill: 1, every: '1s', debt: 2 }),
  slidingWindow({ limit: 4, window: '2s', slices: 5 }),
  slidingLog({ limit: 7, window: '3s' }),
  fixedWindow({ limit: 5, window: '2s' }),
  fixedWindow({ limit: 2, window: '3s', startsAt: 'first-request' }),
  quota({ limit: 3, per: 'week', timeZone: 'America/Havana' }),
  ban(BUCKET, { after: 1, within: '2s', for: ['2s'] }),
  ban(SLIDING, { after: 2, within: '2s', for: ['300ms', 5000] }),
  ban(LOG, { after: 1, within: '900ms', for: [1100, 3000], onAttempt: 'restart' }),
  ban(FIXED, { after: 2, within: '900ms', for: ['400ms', 4000] }),
  ban(FIXED, { after: 1, within: '100ms', for: ['100ms'] }),
  ban(FIRST, { after: 1, within: '900ms', for: ['1h'] }),
  ban(CONSECUTIVE, { after: 1, within: '900ms', for: ['300ms', 20_000] }),
  ban(QUOTA, { after: 1, within: '900ms', for: ['9d'] }),
]
const POLICIES: readonly Policy[] = [
  ...[BUCKET, SLIDING, FIXED, FIRST, CONSECUTIVE, QUOTA, concurrency({ limit: 4, ttl: '1s' })],
  LOG,
  WRAPPING,
  slidingWindow({ limit: MOST, window: '1d', slices: 1 }),
  fixedWindow({ limit: MOST, window: '1h' }),
  ban(BUCKET, { after: 1, within: '1s', for: ['200ms', '500ms'], onAttempt: 'restart' }),
  ban(SLIDING, { after: 2, within: '900ms', for: ['300ms', '1100ms'] }),
  ban(LOG, { after: 2, within: '900ms', for: ['300ms', '1100ms'] }),
  ban(FIXED, { after: 2, within: '900ms', for: ['300ms'] }),
  ban(FIRST, { after: 2, within: '900ms', for: ['300ms', '1100ms'] }),
  ban(CONSECUTIVE, { after: 1, within: '900ms', for: ['300ms', '1100ms'] }),
  ban(QUOTA, { after: 2, within: '900ms', for: ['300ms', '1100ms'], onAttempt: 'restart' }),
  ...OTHER_NUMBERS,
]

interface Taking {
  readonly owner: string
  /** The policy by its place, so that a counterexample can be read. */
  readonly policy: number
  readonly cost: number
}

type Change = Take | Reward | Block

/** A change by hand, whose cost is its units, or for how many milliseconds it blocks. */
interface ChangeOf extends Taking {
  readonly type: Change['type']
}

type Step =
  | { readonly charges: readonly (readonly Taking[])[] }
  | { readonly [change in 'refund' | 'renew']: number }
  | { readonly changes: readonly ChangeOf[] }
  | { readonly forget: Taking }
  | { readonly advanceUs: number }

const HOUR_US = 3_600_000_000

const taking: fc.Arbitrary<Taking> = fc.record({
  owner: fc.constantFrom('a', 'b'),
  policy: fc.nat(POLICIES.length - 1),
  cost: fc.oneof({ weight: 8, arbitrary: fc.nat(4) }, fc.constantFrom(MOST, WRAPPING_COST)),
})
const charge = fc.oneof(
  taking.map((one) => [one]),
  fc.array(taking, { minLength: 1, maxLength: 4 }),
)
/** A time up to the longest ban of a policy. */
const blockMs = ({ cost }: Taking, policy: Policy) => cost % ((policy.longestBanMs ?? 0) + 1)
const change: fc.Arbitrary<ChangeOf> = fc
  .tuple(fc.constantFrom<Change['type']>('take', 'take', 'reward', 'reward', 'block'), taking)
  .map(([wanted, of]): ChangeOf => {
    const policy = POLICIES[of.policy] as Policy
    if (policy.holdsUnits) return { ...of, type: 'take', cost: 0 }
    if (wanted !== 'block') return { ...of, type: wanted }
    return policy.isBan ? { ...of, type: 'block', cost: blockMs(of, policy) } : { ...of, type: 'take' }
  })
const steps = fc.array(
  fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { weight: 6, arbitrary: fc.record({ charges: fc.array(charge, { minLength: 1, maxLength: 6 }) }) },
    { weight: 2, arbitrary: fc.record({ refund: fc.nat(99) }) as fc.Arbitrary<Step> },
    { weight: 2, arbitrary: fc.record({ renew: fc.nat(99) }) as fc.Arbitrary<Step> },
    {
      weight: 3,
      arbitrary: fc.record({ changes: fc.array(change, { minLength: 1, maxLength: 4 }) }),
    },
    { weight: 1, arbitrary: fc.record({ forget: taking }) },
    { weight: 4, arbitrary: fc.record({ advanceUs: fc.oneof(fc.nat(400_000), fc.nat(3_000_000)) }) },
    {
      weight: 1,
      arbitrary: fc.record({ advanceUs: fc.integer({ min: 0, max: 48 }).map((hours) => hours * HOUR_US) }),
    },
  ),
  { minLength: 10, maxLength: 30 },
)

const START_US = 1_790_000_000_123_457

const policyOf = ({ policy }: Taking) => POLICIES[policy] as Policy
/** Those at the limit of what numbers hold have their own keys. */
const keyOf = ({ owner, policy }: Taking) => {
  const isExtreme = policyOf({ policy } as Taking).limit === MOST || POLICIES[policy] === WRAPPING
  return `${owner}:${isExtreme ? policy : keyCodeOf(policyOf({ policy } as Taking).spec)}`
}
const partOf = (one: Taking): Part => part(keyOf(one), policyOf(one), one.cost)

/** Defines the tests of scripts in Lua 5.4, with so many random traces. */
export function describeLua54(traces: number): void {
  describe('in Lua 5.4', () => {
    let server: LuaServer

    beforeAll(async () => {
      server = await startLuaServer()
    }, INSTALL_TIMEOUT_MS)
    afterAll(() => server?.stop())
    afterEach(() => jest.restoreAllMocks())

    /** A store through a client that decodes replies as UTF-8. */
    function textStore(): Store {
      const textIn = (reply: unknown): unknown =>
        Array.isArray(reply) ? reply.map(textIn) : Buffer.isBuffer(reply) ? reply.toString() : reply
      return customRedisStore({
        send: (commands) => commands.map(async (words) => textIn(await server.client.callBuffer(...words))),
      })
    }

    const STORES: Readonly<Record<string, () => Store>> = {
      bytes: () => redisStore(server.client),
      text: textStore,
    }

    test.each(Object.entries(STORES))(
      'each script that replies with %s leaves the states that the TypeScript policies come to',
      async (name, makeStore) => {
        expect(new Set(POLICIES.map(({ spec }) => kindOf(spec)))).toEqual(new Set(Object.keys(LUA_KINDS)))
        const store = makeStore()
        // A call with the periods of another time is sent again, after those behind it in its batch.
        jest.spyOn(Date, 'now').mockImplementation(() => Math.floor(server.nowUs / 1000))
        let trace = 0
        const prefix = () => `${name}${trace++}:`
        await fc.assert(
          fc.asyncProperty(steps, (each) => follow(each, server, store, prefix())),
          { numRuns: traces, endOnFailure: true },
        )
      },
    )

    test('a cost whose time has more than 64 bits is denied', async () => {
      const store = redisStore(server.client)
      const costly = part('wrapping', WRAPPING, WRAPPING_COST)
      for (const charge of [[costly], [costly, part('other', FIXED)]]) {
        expect(await chargeStore(store, [charge])).toMatchObject([{ allowed: false }])
        expect(await server.read('wrapping')).toBeUndefined()
      }
    })

    test('units that take more than 64 bits of milliseconds leave the rest of a batch alone', async () => {
      const store = redisStore(server.client)
      const fast = tokenBucket({ capacity: 2 ** 37, refill: 2 ** 37, every: '1d' })
      const slow = tokenBucket({ capacity: 1, refill: 1, every: '10y' })
      await chargeStore(store, [[part('far', fast, 2 ** 37)], [part('one', slow)], [part('another', slow)]])
      const rewards = ['one', 'far', 'another'].map((key): Reward => {
        return { type: 'reward', key, policy: slow, units: 1 }
      })
      expect(await store.apply(rewards)).toMatchObject(rewards.map(() => ({ type: 'reward' })))
      expect(await server.expiryOf('far')).toBe(Number.POSITIVE_INFINITY)
      expect([await server.read('one'), await server.read('another')]).toEqual([undefined, undefined])
    })

    test('a key that holds a state of another policy fails, and is left alone', async () => {
      const store = redisStore(server.client)
      await chargeStore(store, [[part('key', CONSECUTIVE, 3)]])
      await expect(chargeStore(store, [[part('key', FIXED)]])).rejects.toThrow('a value that is not a state')
      expect(stateIn((await server.read('key')) as Buffer)).toEqual([3])
    })
  })

  test('the server fails a script that names a key which it does not declare', async () => {
    const server = await startLuaServer()
    const run = (key: string) =>
      server.client.callBuffer('eval', `return redis.call('EXISTS', ${key})`, '1', 'key')
    expect(await run('KEYS[1]')).toBe(0)
    await expect(run("'other'")).rejects.toThrow('undeclared key')
    await server.stop()
  })
}

/** What a key must hold, and until when at least. */
interface Entry {
  readonly policy: Policy
  readonly keptUntilMs: number
  state: State | undefined
}

/** A charge names each key under one policy. */
function underOnePolicy(parts: readonly Part[]): readonly Part[] {
  return parts.filter(({ key, policy }) => parts.find((other) => other.key === key)?.policy === policy)
}

/**
 * Takes the steps through the store, and through the policies. After each step, all states are compared, and
 * each must be kept for as long as it matters.
 */
async function follow(
  trace: readonly Step[],
  server: LuaServer,
  store: Store,
  prefix: string,
): Promise<void> {
  const states = new Map<string, Entry>()
  const taken: Required<TakenUnits>[] = []
  const stateOf = (key: string) => states.get(key)?.state
  const withPrefix = (one: Taking): Part => ({ ...partOf(one), key: prefix + partOf(one).key })
  function put({ key, policy }: KeyedPolicy, state: State | undefined): void {
    if (state === stateOf(key)) return
    const nowMs = server.nowUs / 1000
    states.set(key, { policy, state, keptUntilMs: nowMs + stateWrite(key, { policy, state }, nowMs).ttlMs })
  }
  /**
   * A refund leaves the expiry as it is: its policy may have other numbers than that of the last charge. So the
   * state is kept for as long as it matters under that of the charge. Only a state that would have been kept
   * forever may now expire.
   */
  function putRefunded({ key, policy }: KeyedPolicy, state: State | undefined): void {
    const entry = states.get(key)
    if (entry?.keptUntilMs === Number.POSITIVE_INFINITY) put({ key, policy }, state)
    else if (entry !== undefined && state !== entry.state) states.set(key, { ...entry, state })
  }
  server.nowUs = Math.max(server.nowUs, START_US)

  for (const step of trace) {
    const nowMs = server.nowUs / 1000
    if ('advanceUs' in step) server.nowUs += step.advanceUs
    else if ('charges' in step) {
      const charges = step.charges.map((takings) => underOnePolicy(takings.map(withPrefix)))
      const verdicts = await chargeStore(store, charges)
      for (const [i, wanted] of charges.entries()) {
        const { verdict, writes } = evaluateCharge(wanted, stateOf, nowMs)
        expect(verdicts[i]).toMatchObject({ allowed: verdict.allowed, parts: verdict.parts.map(figures) })
        for (const [key, { policy, state }] of writes) put({ key, policy }, state)
        if (!verdict.allowed) continue
        for (const [j, one] of wanted.entries())
          taken.push({ ...one, takenAtMs: nowMs, resetAtMs: nowMs + (verdict.parts[j]?.resetAfterMs ?? 0) })
      }
    } else if ('changes' in step) {
      const changes = step.changes.map((one) => {
        const { key, policy, cost } = withPrefix(one)
        return { type: one.type, key, policy, units: cost, forMs: cost } as Change
      })
      const outcomes = await store.apply(changes)
      for (const [i, each] of changes.entries()) {
        const { state, result } = applyOperation(each, stateOf(each.key), nowMs)
        expect(outcomes[i]).toEqual(result)
        put(each, state)
      }
    } else if ('forget' in step) {
      const one = withPrefix(step.forget)
      await forgetStore(store, [one])
      put(one, undefined)
    } else {
      const units = taken[(step.refund ?? step.renew) % Math.max(1, taken.length)]
      if (units === undefined) continue
      const { key, policy, cost, takenAtMs, resetAtMs } = units
      const state = stateOf(key)
      if (step.refund !== undefined) {
        await refundStore(store, [units])
        putRefunded(units, state && policy.refund(state, nowMs, cost, takenAtMs, resetAtMs))
      } else if (policy.renew !== undefined && cost > 0) {
        const renewed = applyOperation({ ...units, type: 'renew' }, state, nowMs)
        expect({ type: 'renew', resetAtMs: await renewStore(store, units) }).toEqual(renewed.result)
        put(units, renewed.state)
      }
    }
    await expectStates()
  }

  /** A state that equals a fresh one may be there or not. */
  async function expectStates(): Promise<void> {
    const nowMs = server.nowUs / 1000
    for (const [key, entry] of states) {
      const bytes = await server.read(key)
      const held = bytes && stateIn(bytes)
      // Sums of counts at the limit of what numbers hold are rounded, and so are the times that they need.
      if (held !== undefined && nowMs < entry.keptUntilMs && entry.policy.limit < MOST)
        expect(await server.expiryOf(key)).toBeGreaterThanOrEqual(Math.floor(entry.keptUntilMs))
      const isFresh = (state: State | undefined) => entry.policy.take(state, nowMs, 0).resetAfterMs === 0
      if (isFresh(entry.state)) expect([key, isFresh(held)]).toEqual([key, true])
      else expect([key, held]).toEqual([key, entry.state])
      entry.state = held
    }
  }
}
