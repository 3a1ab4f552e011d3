import {
  byField,
  byIp,
  byUser,
  concurrency,
  type Limiter,
  memoryStore,
  responseCost,
  type Store,
} from 'headgate'
import { customStore } from 'headgate/store'
import type { RequestOptions } from '../../../src/http/options.js'
import { headerOf } from '../../../src/keys/request.js'
import type { LoginOptions } from '../../../src/login/options.js'
import type { OverloadOptions } from '../../../src/overload/options.js'
import type { ServerTypes } from '../../../src/util/framework-types.js'
import { brokenStore } from '../../support/fault-stores.js'

/** Options that suit every framework: their functions read a request by its headers alone. */
export type ScenarioOptions = RequestOptions<ServerTypes<unknown, unknown>>

/** What stands in front of the handler of one path, `/` and the name of the scenario. */
export interface Scenario {
  /** The options of the limiters, in order. */
  readonly limiters: readonly ScenarioOptions[]
  /** All of the limiters stand there once more, as the same limiters. */
  readonly isMountedTwice?: boolean
  /** The option `onDenied` of the framework answers with what `limitedAnswer` returns. */
  readonly isAnsweredByApp?: boolean
  /** Is called with the limiter of the scenario, whose mode the test switches. */
  readonly onLimiter?: (limiter: Switchable) => void
}

/** What the test switches of a limiter. */
export type Switchable = Pick<Limiter<never>, 'mode'>

/** Two requests a minute, by a clock that stands still. */
const limited = (options: ScenarioOptions = {}): ScenarioOptions => ({
  limit: 2,
  window: '1m',
  resetFormat: 'delta-seconds',
  store: memoryStore({ clock: () => 0 }),
  ...options,
})

const one = (options?: ScenarioOptions): Scenario => ({ limiters: [limited(options)] })

/**
 * Creates the scenarios that `adapterCases` sends requests to, with states of their own. `beforeCharge` runs
 * before the store of `late` decides; `onLimiter` takes the limiter of `switched`.
 */
export function makeScenarios(beforeCharge: () => Promise<void>, onLimiter: (limiter: Switchable) => void) {
  const fails = () => {
    throw new Error('the database is down')
  }
  return {
    plain: one(),
    epoch: one({ resetFormat: 'epoch-seconds' }),
    legacy: one({ headers: 'legacy' }),
    draft: one({ headers: 'draft' }),
    both: one({ headers: 'both' }),
    none: one({ headers: 'none' }),
    text: one({ message: 'slow down' }),
    object: one({ message: { error: 'slow down' } }),
    status: one({ statusCode: 420 }),
    answered: { ...one({ headers: 'both', statusCode: 420 }), isAnsweredByApp: true },
    reported: one({ mode: 'report' }),
    switched: { ...one({ name: 'switched' }), onLimiter },
    open: one({ store: brokenStore(), onStoreError: 'allow' }),
    closed: one({ store: brokenStore(), onStoreError: 'deny' }),
    local: one({ store: brokenStore() }),
    network: one(),
    forwarded: one({ key: byIp({ trustProxy: 'loopback' }) }),
    exempt: one({ allow: ['::1'] }),
    blocked: one({ block: ['::1'] }),
    skipped: one({ skip: (req) => headerOf(req, 'x-skip') === 'yes' }),
    awaited: one({ skip: async (req) => headerOf(req, 'x-skip') === 'yes', cost: async () => 2 }),
    users: one({ key: byUser() }),
    fields: one({ key: byField('username') }),
    failed: one({ count: 'failed' }),
    successful: one({ count: 'successful' }),
    metered: one({ limit: 10, actualCost: responseCost(async (req) => Number(headerOf(req, 'x-cost'))) }),
    judged: one({ count: async (req) => headerOf(req, 'x-counts') === 'yes' }),
    hungUp: one({ count: 'failed' }),
    late: one({ count: 'failed', store: lateStore(beforeCharge), timeout: 20_000 }),
    inFlight: { limiters: [{ policy: concurrency({ limit: 1 }), store: memoryStore() }] },
    several: {
      limiters: [
        limited({ headers: 'both', name: 'burst' }),
        limited({ headers: 'both', name: 'hour', limit: 9, window: '1h' }),
      ],
    },
    twice: { ...one({ headers: 'both' }), isMountedTwice: true },
    broken: one({ key: fails }),
    brokenLater: one({ cost: async () => fails() }),
  } satisfies Record<string, Scenario>
}

export type ScenarioName = keyof ReturnType<typeof makeScenarios>

/** A correct store that answers with promises, and charges once `beforeCharge` has run. */
function lateStore(beforeCharge: () => Promise<void>): Store {
  const memory = memoryStore({ clock: () => 0 })
  return customStore({
    name: 'late',
    async apply(operations) {
      if (operations.some(({ type }) => type === 'charge')) await beforeCharge()
      return memory.apply(operations)
    },
  })
}

/** Options of login guards that suit every framework. */
export type GuardOptions = LoginOptions<ServerTypes<unknown, unknown>>

/** Creates the options of the guards that `loginCases` sends attempts to, by the names of their paths. */
export function makeGuards() {
  return {
    guarded: { field: 'username', store: memoryStore() },
    abandoned: { field: 'username', store: memoryStore() },
    remembered: {
      field: 'username',
      name: 'remembered',
      store: memoryStore(),
      consecutive: 1,
      deviceCookie: { secret: 'sixteen letters!' },
    },
  } satisfies Record<string, GuardOptions>
}

export type GuardName = keyof ReturnType<typeof makeGuards>

/** Options of overload guards that suit every framework. */
export type GuardedOptions = OverloadOptions<ServerTypes<unknown, unknown>>

/** What stands in front of the handler of one path: an overload guard. */
export interface Overload {
  readonly options: GuardedOptions
  readonly isMountedTwice?: boolean
  /** The option `onDenied` of the framework answers with what `limitedAnswer` returns. */
  readonly isAnsweredByApp?: boolean
}

/** Creates the guards that `overloadCases` sends requests to, by the names of their paths. */
export function makeOverloads() {
  const atMost = (limit: number) => ({ minLimit: limit, maxLimit: limit, maxWait: 0 }) as const
  return {
    crowded: { options: atMost(1) },
    left: { options: atMost(1) },
    failing: { options: atMost(1) },
    waiting: { options: { ...atMost(1), maxWait: '10s' } },
    watched: { options: { ...atMost(1), mode: 'report' } },
    worded: { options: { ...atMost(1), message: 'come back later', statusCode: 529 } },
    answeredBusy: { options: { ...atMost(1), statusCode: 529 }, isAnsweredByApp: true },
    ranked: {
      options: { ...atMost(5), priority: (req) => headerOf(req, 'x-priority') as 'critical' | undefined },
    },
    closedTo: { options: { ...atMost(1), block: ['::1'] } },
    skipping: { options: { ...atMost(1), skip: (req) => headerOf(req, 'x-skip') === 'yes' } },
    doubled: { options: atMost(1), isMountedTwice: true },
    throwing: {
      options: {
        priority: () => {
          throw new Error('the session is broken')
        },
      },
    },
  } satisfies Record<string, Overload>
}

export type OverloadName = keyof ReturnType<typeof makeOverloads>
