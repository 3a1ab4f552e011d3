import type { Decision } from '../limiter/decision.js'
import { processWide } from '../util/process-wide.js'

/** A limiter's decision on a request, and the decision that was recorded before it. */
interface DecisionRecord {
  readonly limiter: object | undefined
  readonly decision: unknown
  readonly previous: DecisionRecord | undefined
}

/** The last record of each request, which may pass limiters of several copies of this package. */
const lastRecords = processWide('decisionRecords', () => new WeakMap<object, DecisionRecord>())
/**
 * The property for the last record, if a request was created with one, as Fastify's requests are by
 * `decorateRequest`. To set it costs less than to add an entry to the `WeakMap`.
 */
export const LAST_RECORD = Symbol.for('headgate.decisionRecord')
/** The prototypes of requests that inherit the accessor `rateLimit`. */
const extendedPrototypes = processWide('extendedRequests', () => new WeakSet<object>())

/** A request that was created with a property for its last record. */
interface HasRoom {
  [LAST_RECORD]?: DecisionRecord | undefined
}

/** Returns a limiter's decision on a request, or `undefined` if it has not made one. */
export function decisionFor(req: object & HasRoom, limiter: object): Decision | undefined {
  let record = Object.hasOwn(req, LAST_RECORD) ? req[LAST_RECORD] : lastRecords.get(req)
  while (record !== undefined && record.limiter !== limiter) record = record.previous
  return record?.decision as Decision | undefined
}

/** A request on which a decision is recorded. */
type Recorded = HasRoom & { rateLimit?: unknown }

/**
 * Sets `req.rateLimit`, and records a limiter's decision. Returns whether it is the first on this request.
 */
export type RecordDecision = (req: Recorded, limiter: object, decision: unknown) => boolean

/** Records a decision in a property of the request. */
export function recordInRoom(req: Recorded, limiter: object, decision: unknown): boolean {
  const previous = req[LAST_RECORD]
  req[LAST_RECORD] = { limiter, decision, previous }
  const isFirst = previous === undefined && req.rateLimit === undefined
  req.rateLimit = decision
  return isFirst
}

/** Records a decision on a request of any framework. */
export function recordDecision(req: Recorded, limiter: object, decision: unknown): boolean {
  if (Object.hasOwn(req, LAST_RECORD)) return recordInRoom(req, limiter, decision)
  const previous = lastRecords.get(req)
  lastRecords.set(req, { limiter, decision, previous })
  const prototype: object = Object.getPrototypeOf(req)
  if (extendedPrototypes.has(prototype)) return previous === undefined
  const isFirst = previous === undefined && req.rateLimit === undefined
  extendExpress(prototype)
  req.rateLimit = decision
  return isFirst
}

/**
 * Makes `rateLimit` an accessor of Express' requests, as Express itself does with `req.ip`. Other requests
 * have it as their own property. Express 4 and 5 set the prototype of each request, which gives every
 * request its own hidden class in V8. To add a property to such a request costs more than the decision.
 */
function extendExpress(prototype: object): void {
  if (!Object.hasOwn(prototype, 'app')) return // so it is not `app.request`
  let base = prototype // `express.request` in the end, from which all applications' requests inherit
  for (let next = prototype; !isOfNode(next); next = Object.getPrototypeOf(base)) {
    if (next === null || (next !== prototype && Object.hasOwn(base, 'rateLimit'))) return
    base = next
  }
  if (!extendedPrototypes.has(base)) {
    if ('rateLimit' in base || !Reflect.defineProperty(base, 'rateLimit', ACCESSOR)) return
    extendedPrototypes.add(base)
  }
  extendedPrototypes.add(prototype)
}

/**
 * Returns whether this is `IncomingMessage.prototype`, by its name, because not all servers have node:http.
 */
function isOfNode(prototype: object | null): boolean {
  if (prototype === null || !Object.hasOwn(prototype, 'constructor')) return false
  return prototype.constructor.name === 'IncomingMessage'
}

const ACCESSOR: PropertyDescriptor & ThisType<object> = {
  configurable: true,
  enumerable: true,
  get() {
    return lastRecords.get(this)?.decision
  },
  set(decision: unknown) {
    lastRecords.set(this, { limiter: undefined, decision, previous: lastRecords.get(this) })
  },
}
