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
import { dynamodbStore } from 'headgate/dynamodb'
import { type Operation, type Outcome, type Store, StoreError } from 'headgate/store'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type Dynalite, startDynalite } from './dynalite.js'
import { openClient, type TestClient } from './open.js'

jest.setTimeout(120_000)

const table = 'interleavings'
let server: Dynalite
let client: TestClient
beforeAll(async () => {
  server = await startDynalite()
  client = openClient(server.folder, server.port)
  await dynamodbStore(client, { table }).prepare()
})
afterAll(async () => {
  client.destroy()
  await server.stop()
})

const AHEAD_MS = [0, 900, 400, 150]
const POLICIES: Readonly<Record<string, Policy>> = {
  tokenBucket: tokenBucket({ capacity: 12, refill: 12, every: '10s' }),
  slidingWindow: slidingWindow({ limit: 12, window: '10s' }),
  slidingLog: slidingLog({ limit: 12, window: '10s' }),
  fixedWindow: fixedWindow({ limit: 12, window: '10s', startsAt: 'first-request' }),
  consecutive: consecutive({ limit: 12 }),
}

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
  /** Sends it. If its reply is lost, the process gets an error. */
  send(isLost: boolean): Promise<void>
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

let keys = 0

/** Processes whose requests are sent in the order of the steps, and one store in memory that they must be like. */
class Interleaving {
  readonly key = `key-${++keys}`
  readonly counts = { appends: 0, overtaken: 0 }
  readonly #policy: Policy
  readonly #held: Held[] = []
  readonly #calls = new Map<number, Call>()
  readonly #stores: readonly Store[]
  readonly #model: Store
  #elapsedMs = Date.UTC(2030, 0, 1)
  /** The time of the model: the latest of the processes whose operations it has. */
  #latestMs = 0

  constructor(policy: Policy) {
    this.#policy = policy
    this.#model = memoryStore({ clock: () => this.#latestMs })
    this.#stores = AHEAD_MS.map((aheadMs, process) =>
      dynamodbStore(this.#keptBack(process), { table, clock: () => this.#elapsedMs + aheadMs }),
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
    const observer = dynamodbStore(client, { table, clock: () => this.#latestMs })
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
    await held.send(isLost)
    const call = this.#calls.get(held.process)
    if (held.isFold || call === undefined) return
    this.#calls.delete(held.process)
    this.#latestMs = Math.max(this.#latestMs, call.nowMs)
    const [expected] = await this.#model.apply([call.operation])
    const outcome = await call.outcome
    if (isLost) expect(outcome).toBeInstanceOf(StoreError)
    else expect(verdictOf(outcome)).toEqual(verdictOf(expected))
  }

  #keptBack(process: number): TestClient {
    const keep = (isFold: boolean, request: () => Promise<unknown>) =>
      new Promise<unknown>((resolve, reject) => {
        const { appends } = this.counts
        const send = async (isLost: boolean) => {
          const [sent] = await Promise.allSettled([request()])
          if (!isFold) this.counts.appends++
          else if (sent.status === 'fulfilled' && appends < this.counts.appends) this.counts.overtaken++
          if (!isFold && sent.status === 'rejected') throw sent.reason // no operation may be refused
          if (isLost) reject(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
          else if (sent.status === 'rejected') reject(sent.reason)
          else resolve(sent.value)
        }
        this.#held.push({ process, isFold, send })
      })
    return Object.assign(Object.create(client), {
      updateItem: (input: { readonly UpdateExpression: string }) =>
        keep(input.UpdateExpression.includes('REMOVE'), () => client.updateItem(input)),
      deleteItem: (input: object) => keep(true, () => client.deleteItem(input)),
      getItem: () => Promise.reject(new Error('no operation may need a read')),
      putItem: () => Promise.reject(new Error('no operation may compete')),
    })
  }
}

test.each(Object.entries(POLICIES))(
  'whatever is sent, folded and lost in which order, decisions are those of one process: %s',
  async (_, policy) => {
    let overtaken = 0
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const interleaving = new Interleaving(policy)
        for (const step of all) await interleaving.take(step)
        await interleaving.finish()
        overtaken += interleaving.counts.overtaken
      }),
      { numRuns: 12, endOnFailure: true },
    )
    expect(overtaken).toBeGreaterThan(0) // folds that succeeded after other appends
  },
)
