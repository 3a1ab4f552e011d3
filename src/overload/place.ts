import type { Respond } from '../http/deny-request.js'
import type { NamedPart } from '../limiter/receipt.js'
import type { Expiring } from './deadlines.js'
import type { Tenant } from './tenant.js'
import type { Ticket } from './ticket.js'
import type { Watcher } from './watchers.js'

/** A request or call at a guard. It waits for a place, has one, or is over. */
export class Place implements Ticket {
  readonly priority: number
  readonly tenantId: string | undefined
  /** A hash of its client, 32 bits. */
  client = 0
  /** Called once the wait is over, with whether it got a place. */
  onSettled: ((isAdmitted: boolean) => void) | undefined
  // The guard sets these. With all fields from the start, all places have one hidden class.
  arrivedAtMs = 0
  tenant: Tenant | undefined = undefined
  rank = 0
  state: Ticket['state'] = 'over'
  startedAtMs = 0
  epoch = 0

  constructor(priority: number, tenantId: string | undefined) {
    this.priority = priority
    this.tenantId = tenantId
    this.onSettled = undefined
  }

  /** Resolves once the wait is over, with whether it got a place. */
  wait(): Promise<boolean> {
    return new Promise((resolve) => {
      this.onSettled = resolve
    })
  }

  settle(isAdmitted: boolean): void {
    this.onSettled?.(isAdmitted)
  }
}

/** What gives places to requests, and takes them back. */
export interface PlaceKeeper<Req, Res> {
  start(place: RequestPlace<Req, Res>): void
  expire(place: RequestPlace<Req, Res>): void
  begin(place: RequestPlace<Req, Res>): void
  leave(place: RequestPlace<Req, Res>): void
}

/** A request at a guard, in any framework. */
export class RequestPlace<Req, Res> extends Place implements Watcher, Expiring {
  readonly guard: PlaceKeeper<Req, Res>
  readonly req: Req
  readonly res: Res
  readonly onDenied: Respond | undefined
  before: Watcher | undefined = undefined
  hasPassed = false
  /** Whether its client left before the response began. */
  isGone = false
  /** The class of its route when its client left, while its handler goes on. */
  leftClass: string | undefined = undefined
  hasBegun = false
  /** Whether its latency can be compared with others. */
  isSample = true
  dueMs = Number.POSITIVE_INFINITY
  previous: Expiring | undefined = undefined
  next: Expiring | undefined = undefined
  /**
   * Present if nothing tells whether there will be a response. Called once there has been none for a minute.
   */
  onNoResponse: (() => void) | undefined = undefined
  /** The parts of the decision, with the identity of the client. Absent until they are needed. */
  parts: readonly NamedPart[] | undefined = undefined

  constructor(
    guard: PlaceKeeper<Req, Res>,
    req: Req,
    res: Res,
    onDenied: Respond | undefined,
    priority: number,
    tenantId?: string,
  ) {
    super(priority, tenantId)
    this.guard = guard
    this.req = req
    this.res = res
    this.onDenied = onDenied
  }

  begin(): void {
    if (!this.hasBegun) this.guard.begin(this)
  }

  leave(): void {
    if (!this.hasBegun) this.guard.leave(this)
  }

  expire(): void {
    this.guard.expire(this)
  }

  override settle(isAdmitted: boolean): void {
    if (isAdmitted) this.guard.start(this)
    super.settle(isAdmitted)
  }
}
