import { CRITICAL } from '../../../../src/overload/cohorts.js'
import { eventQueue } from '../event-queue.js'
import { exponential, type Random, randomFrom } from '../random.js'
import { VirtualProcess } from './virtual-process.js'

/** A request of the simulation. */
export interface SimRequest {
  /** When the client sent it, in milliseconds. */
  bornAtMs: number
  readonly routeClass: string
  readonly priority: number
  readonly client: number
  readonly tenantId?: string
  /** How often the client has sent it before. */
  readonly attempt: number
}

/** A guard of the simulation. It calls `start` or `deny` for each request, at once or later. */
export interface SimGuard {
  offer(request: SimRequest, nowMs: number): void
  end(request: SimRequest, latencyMs: number, nowMs: number): void
  /** A turn of the event loop took this long. */
  turn?(tookMs: number, nowMs: number): void
  /** What it has found, for the report. */
  readonly limit?: number
}

export interface Actions {
  start(request: SimRequest): void
  deny(request: SimRequest): void
}

export type MakeGuard = (actions: Actions, random: Random) => SimGuard

/** Makes a guard that knows of its process. */
export type MakeSimulatedGuard = (
  actions: Actions,
  random: Random,
  process: VirtualProcess,
  scenario: Pick<OverloadScenario, 'weights'>,
) => SimGuard

export interface OverloadScenario {
  readonly durationMs: number
  /** The most requests a millisecond that clients send. */
  readonly maxRate: number
  /** Requests a millisecond. Default: always `maxRate`. */
  rateAt?(nowMs: number): number
  /** Requests that the backend works on at once. */
  workersAt(nowMs: number): number
  /** How long the backend works on a request. */
  serviceMs(request: SimRequest, nowMs: number, random: Random): number
  /** How a request looks. Default: all alike, from a thousand clients. */
  makeRequest?(nowMs: number, random: Random): Partial<SimRequest>
  /** When a denied client sends its request again; `undefined` for never. */
  retryAfterMs?(request: SimRequest, random: Random): number | undefined
  /** How long clients wait. */
  readonly patienceMs: number
  /**
   * Whether the process does the work itself, in one turn of its event loop after the other. A turn takes all
   * requests that arrived during the last one, so they have waited before a guard sees them.
   */
  readonly isOwnCpu?: boolean
  /** The fixed limit that serves most. Default 16. */
  readonly rightLimit?: number
  /** The tenants that matter, by their weights. */
  readonly weights?: ReadonlyMap<string, number>
  /** When an overload ends, and a guard has to recover. */
  readonly endsAtMs?: number
}

/** What became of the requests of a run. */
export interface OverloadOutcome {
  readonly sent: number
  readonly denied: number
  /** Answered while the client waited. */
  readonly good: number
  readonly late: number
  /** Requests that were answered in time, by the second in which they were sent. */
  readonly goodBySecond: Float64Array
  /** By tenant: sent, and answered in time. */
  readonly byTenant: ReadonlyMap<string, { sent: number; good: number }>
  /** How long critical requests took, in order: `Infinity` for those that were denied. */
  readonly criticalMs: readonly number[]
  readonly limit: number | undefined
}

const TICK_MS = 5
/** What a denial costs a process that does the work itself. */
const DENIAL_MS = 0.05
export const CLIENTS = 1000

/** Runs a scenario in virtual time. The same seed gives the same requests to every guard, until one denies. */
export function runOverload(
  scenario: OverloadScenario,
  makeGuard: MakeSimulatedGuard,
  seed: number,
): OverloadOutcome {
  const random = randomFrom(seed)
  const backendRandom = randomFrom(seed + 1_000_003)
  const events = eventQueue()
  const backlog: SimRequest[] = []
  const byTenant = new Map<string, { sent: number; good: number }>()
  const goodBySecond = new Float64Array(Math.ceil(scenario.durationMs / 1000) + 1)
  const criticalMs: number[] = []
  let [nowMs, head, busy, sent, denied, good, late] = [0, 0, 0, 0, 0, 0, 0]
  const startedAtMs = new Map<SimRequest, number>()
  const at = (atMs: number, run: () => void) => events.add({ atMs, run, settles: false })
  const process = new VirtualProcess({ now: () => nowMs, at, isBusy: () => busy > 0 }, scenario.isOwnCpu)

  const guard = makeGuard(
    {
      start(request) {
        startedAtMs.set(request, nowMs)
        backlog.push(request)
        work()
      },
      deny(request) {
        denied++
        if (request.priority === CRITICAL) criticalMs.push(Number.POSITIVE_INFINITY)
        const afterMs = scenario.retryAfterMs?.(request, random)
        if (afterMs !== undefined)
          at(nowMs + afterMs, () => send({ ...request, attempt: request.attempt + 1 }))
      },
    },
    randomFrom(seed + 2_000_003),
    process,
    scenario,
  )

  function work(): void {
    while (busy < scenario.workersAt(nowMs) && head < backlog.length) {
      const request = backlog[head++] as SimRequest
      if (head > 10_000) backlog.splice(0, head)
      if (head > 10_000) head = 0
      busy++
      at(nowMs + scenario.serviceMs(request, nowMs, backendRandom), () => respond(request))
    }
    if (scenario.isOwnCpu) read()
  }

  /** Offers requests that have arrived, one by one, while the process has nothing else to do. */
  function read(): void {
    while (busy === 0 && head >= backlog.length) {
      const request = process.next((tookMs) => guard.turn?.(tookMs, nowMs))
      if (request === undefined) return
      const deniedBefore = denied
      guard.offer(request, nowMs)
      if (denied === deniedBefore) continue
      busy++
      at(nowMs + DENIAL_MS, () => {
        busy--
        work()
      })
    }
  }

  function respond(request: SimRequest): void {
    busy--
    guard.end(request, nowMs - (startedAtMs.get(request) as number), nowMs)
    startedAtMs.delete(request)
    const tookMs = nowMs - request.bornAtMs
    if (request.priority === CRITICAL) criticalMs.push(tookMs)
    if (tookMs <= scenario.patienceMs) {
      good++
      const second = Math.floor(request.bornAtMs / 1000)
      if (second < goodBySecond.length) goodBySecond[second] = (goodBySecond[second] as number) + 1
      const tenant = request.tenantId === undefined ? undefined : byTenant.get(request.tenantId)
      if (tenant !== undefined) tenant.good++
    } else late++
    work()
  }

  function send(request: SimRequest): void {
    request.bornAtMs = nowMs
    sent++
    if (request.tenantId !== undefined) {
      const tenant = byTenant.get(request.tenantId) ?? { sent: 0, good: 0 }
      tenant.sent++
      byTenant.set(request.tenantId, tenant)
    }
    if (scenario.isOwnCpu) process.arrived(request)
    else guard.offer(request, nowMs)
    work()
  }

  function arrive(): void {
    const rate = scenario.rateAt?.(nowMs) ?? scenario.maxRate
    if (random() * scenario.maxRate < rate) {
      const made = scenario.makeRequest?.(nowMs, random)
      const plain = { routeClass: 'all', priority: 1, client: Math.floor(random() * CLIENTS) }
      send({ bornAtMs: nowMs, attempt: 0, ...plain, ...made })
    }
    const nextAtMs = nowMs + exponential(random, scenario.maxRate)
    if (nextAtMs < scenario.durationMs) at(nextAtMs, arrive)
  }

  function tick(): void {
    work() // the number of workers may have changed
    if (nowMs < scenario.durationMs) at(nowMs + TICK_MS, tick)
  }

  at(0, arrive)
  at(TICK_MS, tick)
  const endMs = scenario.durationMs + 60_000
  for (let event = events.next(endMs); event !== undefined; event = events.next(endMs)) {
    nowMs = event.atMs
    event.run()
    process.afterEvent()
  }
  criticalMs.sort((a, b) => a - b)
  return { sent, denied, good, late, goodBySecond, byTenant, criticalMs, limit: guard.limit }
}
