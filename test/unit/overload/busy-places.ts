import type { FairShares } from '../../../src/overload/fair-shares.js'
import type { Tenant } from '../../../src/overload/tenant.js'
import { sharedDocuments } from '../dashboard/shared/shared-documents.js'
import { SharedWorld } from './shared-world.js'

const PROCESSES = 4
const LIMIT = 10
const STEP_MS = 25
const SERVICE_STEPS = 2
/** Until then, nothing is counted. */
const SETTLED_MS = 8000

/** The places of one process, which tenants take by their fair shares. */
class Places {
  readonly #shares: FairShares
  readonly #ends: Tenant[][] = Array.from({ length: SERVICE_STEPS }, () => [])
  #running = 0
  #step = 0

  constructor(shares: FairShares) {
    this.#shares = shares
  }

  /** Ends the requests that are done. */
  advance(nowMs: number): void {
    this.#step = (this.#step + 1) % SERVICE_STEPS
    for (const tenant of this.#ends[this.#step]?.splice(0) ?? []) {
      this.#shares.returnPlace(tenant, nowMs)
      this.#running--
    }
  }

  /** Returns whether a request of a tenant finds a place. */
  take(id: string, nowMs: number): boolean {
    const tenant = this.#shares.enter(id, nowMs)
    const mayTake =
      this.#shares.isWithinShare(tenant, LIMIT, nowMs) ||
      tenant.held < this.#shares.capOf(tenant, LIMIT, nowMs)
    if (!mayTake || this.#running >= LIMIT) {
      this.#shares.recordDenial(tenant, LIMIT, nowMs)
      return false
    }
    this.#shares.takePlace(tenant, id, nowMs)
    this.#ends[this.#step]?.push(tenant)
    this.#running++
    return true
  }
}

/**
 * Returns how many places each tenant has on average in all processes, if it asks for them this often in each
 * process.
 */
export async function busyPlaces(
  rates: readonly ((process: number, second: number) => number)[],
  seconds: number,
): Promise<number[]> {
  const { documents } = sharedDocuments()
  const ids = rates.map((_, i) => `tenant ${i}`)
  const world = new SharedWorld()
  for (let i = 0; i < PROCESSES; i++) world.start(documents, ids, { limit: LIMIT, phaseMs: 250 * i })
  const places = world.sharers.map(({ shares }) => new Places(shares))
  const taken = rates.map(() => 0)
  for (; world.nowMs < seconds * 1000; world.nowMs += STEP_MS) {
    for (const [process, each] of places.entries()) {
      each.advance(world.nowMs)
      for (const id of inTurn(rates, process, world.nowMs))
        if (each.take(ids[id] as string, world.nowMs) && world.nowMs >= SETTLED_MS)
          taken[id] = (taken[id] as number) + SERVICE_STEPS * STEP_MS
    }
    await world.rounds()
  }
  return taken.map((each) => each / (1000 * seconds - SETTLED_MS))
}

/** Returns the numbers of the tenants that ask in a step, in an order that changes. */
function inTurn(
  rates: readonly ((process: number, second: number) => number)[],
  process: number,
  nowMs: number,
): readonly number[] {
  const asking = rates.flatMap((rate, id) => Array<number>(rate(process, nowMs / 1000)).fill(id))
  const first = (nowMs / STEP_MS) * 7 + process
  return asking.map((_, i) => asking[(first + 5 * i) % asking.length] as number) // 5 divides no length
}
