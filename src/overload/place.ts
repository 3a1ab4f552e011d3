import type { Respond } from '../http/deny-request.js'
import type { NamedPart } from '../limiter/receipt.js'
import type { Ticket } from './guard-core.js'
import type { Tenant } from './tenant.js'

/** A request or call at a guard. It waits for a place, or has one, or is over. */
export class Place implements Ticket {
  readonly priority: number
  readonly tenantId: string | undefined
  /** A hash of its client, 32 bits. */
  client = 0
  /** Called when it has waited: with whether it has a place. */
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

  settle(isAdmitted: boolean): void {
    this.onSettled?.(isAdmitted)
  }
}

/** A request at a guard, in any framework. */
export class RequestPlace<Req, Res> extends Place {
  readonly req: Req
  readonly res: Res
  readonly onDenied: Respond | undefined
  /** Whether its client left before the response began. */
  isGone = false
  hasBegun = false
  /** The part of the decision on it, which says who its client is. Absent if that was not needed yet. */
  parts: readonly NamedPart[] | undefined = undefined

  constructor(req: Req, res: Res, onDenied: Respond | undefined, priority: number, tenantId?: string) {
    super(priority, tenantId)
    this.req = req
    this.res = res
    this.onDenied = onDenied
  }
}
