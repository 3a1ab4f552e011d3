import fc from 'fast-check'
import {
  consecutive,
  fixedWindow,
  memoryStore,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { type Operation, type Outcome, type Store, StoreError } from 'headgate/store'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type AnyClient, intercepted } from './clients.js'
import { newKey, type Tables } from './use-dynalite.js'

const AHEAD_MS = [0, 900, 400, 150]
const POLICIES: Readonly<Record<string, Policy>> = {
  tokenBucket: tokenBucket({ capacity: 12, refill: 12, every: '10s' }),
  slidingWindow: slidingWindow({ limit: 12, window: '10s' }),
  slidingLog: slidingLog({ limit: 12, window: '10s' }),
  fixedWindow: fixedWindow({ limit: 12, window: '10s', startsAt: 'first-request' }),
  consecutive: consecutive({ limit: 12 }),
}

/** Soon after the start. An append that is late for this minute takes two updates. */
const NEXT_MINUTE_MS = Date.UTC(2030, 0, 1)

/** A step of an interleaving. `pick` chooses among the processes, or the requests that are kept back. */
interface Step {
  readonly do: 'charge' | 'give back' | 'append' | 'lose' | 'fold' | 'lose fold' | 'wait'
  readonly pick: number
  readonly units: number
}

const steps = fc.array(
  fc.record<Step>({
    do: fc.oneof(
      { weight: 20, arbitrary: fc.constant('charge' as const) },
      { weight: 2, arbitrary: fc.constant('give back' as const) },
      { weight: 24, arbitrary: fc.constant('append' as const) },
      { weight: 1, arbitrary: fc.constant('lose' as const) },
      { weight: 1, arbitrary: fc.constant('fold' as const) },
      { weight: 1, arbitrary: fc.constant('lose fold' as const) },
      { weight: 1, arbitrary: fc.constant('wait' as const) },
    ),
    pick: fc.nat(99),
    units: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 150, maxLength: 300, size: 'max' },
)

/** A request that is kept back until it is its turn. */
interface Held {
  readonly process: number
  readonly isFold: boolean
  /** Sends it, and returns whether its condition failed. If its reply is lost, the process gets an error. */
  send(isLost: boolean): Promise<boolean>
}

interface Call {
  readonly operation: Operation
  readonly nowMs: number
  readonly outcome: Promise<Outcome | StoreError | undefined>
}

/** The verdict of a charge. The states may differ by units that are back anyway, which the memory has dropped. */
function verdictOf(outcome: Outcome | StoreError | undefined) {
  if (outcome instanceof StoreError || outcome?.type !== 'charge') return outcome
  const parts = outcome.parts.map(({ allowed, remaining, resetAfterMs, retryAfterMs }) => {
    return { allowed, remaining, resetAfterMs, retryAfterMs }
  })
  return { ...outcome, parts }
}

/** Processes whose requests are sent in the order of the steps, and one store in memory that they must be like. */
class Interleaving {
  readonly key = newKey()
  readonly counts = { appends: 0, refused: 0, overtaken: 0 }
  readonly #tables: Tables
  readonly #policy: Policy
  readonly #held: Held[] = []
  readonly #calls = new Map<number, Call>()
  readonly #stores: readonly Store[]
  readonly #model: Store
  #elapsedMs = NEXT_MINUTE_MS - 500
  /** The time of the model: the latest of the processes whose operations it has. */
  #latestMs = 0

  constructor(tables: Tables, policy: Policy) {
    this.#tables = tables
    this.#policy = policy
    this.#model = memoryStore({ clock: () => this.#latestMs })
    this.#stores = AHEAD_MS.map((aheadMs, process) =>
      tables.store(this.#keptBack(process), () => this.#elapsedMs + aheadMs),
    )
  }

  async take({ do: what, pick, units }: Step): Promise<void> {
    if (what === 'charge' || what === 'give back') this.#call(pick % AHEAD_MS.length, what, units)
    else if (what === 'wait') await this.#wait(pick)
    else await this.#sendOne(what.endsWith('fold'), what.startsWith('lose'), pick)
  }

  /** Sends what is left, and compares the ends. */
  async finish(): Promise<void> {
    await this.#sendAll(() => true)
    const observer = this.#tables.store(this.#tables.client, () => this.#latestMs)
    expect(await remainingOf(observer, this.#policy, [this.key])).toEqual(
      await remainingOf(this.#model, this.#policy, [this.key]),
    )
  }

  #call(process: number, what: 'charge' | 'give back', units: number): void {
    if (this.#calls.has(process)) return
    const [key, policy] = [this.key, this.#policy]
    const operation: Operation =
      what === 'charge'
        ? { type: 'charge', parts: [{ key, policy, cost: units }] }
        : { type: 'reward', key, policy, units }
    const outcome = Promise.resolve(this.#stores[process]?.apply([operation])).then((all) => all?.[0])
    this.#calls.set(process, { operation, nowMs: this.#elapsedMs + (AHEAD_MS[process] ?? 0), outcome })
  }

  /** Time passes. Folds may be kept back meanwhile, but appends are sent before: late ones are decided anew. */
  async #wait(pick: number): Promise<void> {
    await this.#sendAll(({ isFold }) => !isFold)
    this.#elapsedMs += pick * pick
  }

  async #sendAll(chosen: (held: Held) => boolean): Promise<void> {
    await this.#settled()
    for (let next = this.#held.find(chosen); next !== undefined; next = this.#held.find(chosen)) {
      await this.#send(next, false)
      await this.#settled()
    }
  }

  async #sendOne(isFold: boolean, isLost: boolean, pick: number): Promise<void> {
    await this.#settled()
    const chosen = this.#held.filter((held) => held.isFold === isFold)
    const next = chosen[pick % chosen.length]
    if (next !== undefined) await this.#send(next, isLost)
  }

  /** Waits until each call that was made has its request kept back. */
  async #settled(): Promise<void> {
    const isWaiting = (process: number) => this.#held.some((held) => !held.isFold && held.process === process)
    while (![...this.#calls.keys()].every(isWaiting)) await new Promise(setImmediate)
  }

  async #send(held: Held, isLost: boolean): Promise<void> {
    this.#held.splice(this.#held.indexOf(held), 1)
    const isRefused = await held.send(isLost)
    const call = this.#calls.get(held.process)
    if (held.isFold || call === undefined) return
    if (isRefused) expect(call.nowMs).toBeLessThan(NEXT_MINUTE_MS)
    if (isRefused && !isLost) return // another update appends it
    this.#calls.delete(held.process)
    if (isLost) expect(await call.outcome).toBeInstanceOf(StoreError)
    if (isRefused) return
    this.#latestMs = Math.max(this.#latestMs, call.nowMs)
    const [expected] = await this.#model.apply([call.operation])
    const outcome = await call.outcome
    if (!isLost) expect(verdictOf(outcome)).toEqual(verdictOf(expected))
  }

  #keptBack(process: number): AnyClient {
    const keep = (isFold: boolean, request: () => Promise<unknown>) =>
      new Promise<unknown>((resolve, reject) => {
        const { appends } = this.counts
        const send = async (isLost: boolean) => {
          const [sent] = await Promise.allSettled([request()])
          if (!isFold && sent.status === 'fulfilled') this.counts.appends++
          else if (!isFold) this.counts.refused++
          else if (sent.status === 'fulfilled' && appends < this.counts.appends) this.counts.overtaken++
          if (isLost) reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
          else if (sent.status === 'rejected') reject(sent.reason)
          else resolve(sent.value)
          return sent.status === 'rejected'
        }
        this.#held.push({ process, isFold, send })
      })
    return intercepted(this.#tables.client, async ({ operation, input, send }) => {
      if (operation === 'update') return keep(input.UpdateExpression.includes('REMOVE'), send)
      if (operation === 'delete') return keep(true, send)
      throw new Error('no operation may need a read, or compete')
    })
  }
}

/** What to test: the least number of folds that must succeed after other appends, of all policies or of some. */
interface Extent {
  readonly numRuns: number
  readonly leastOvertaken: number
  /** The least number of appends that are late for their minute. */
  readonly leastRefused: number
  readonly policies?: readonly string[]
}

/** Defines the property that processes which share a log decide like one process. */
export function describeInterleavings(tables: Tables, extent: Extent): void {
  const { numRuns, leastOvertaken, leastRefused, policies = Object.keys(POLICIES) } = extent
  test.each(policies)(
    'whatever is sent, folded and lost in which order, decisions are those of one process: %s',
    async (name) => {
      let overtaken = 0
      let refused = 0
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const interleaving = new Interleaving(tables, POLICIES[name] as Policy)
          for (const step of all) await interleaving.take(step)
          await interleaving.finish()
          overtaken += interleaving.counts.overtaken
          refused += interleaving.counts.refused
        }),
        { numRuns, endOnFailure: true },
      )
      expect(overtaken).toBeGreaterThanOrEqual(leastOvertaken)
      expect(refused).toBeGreaterThanOrEqual(leastRefused)
    },
  )
}
