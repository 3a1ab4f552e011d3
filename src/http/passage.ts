import type { Decision } from '../limiter/decision.js'
import { processWide } from '../util/process-wide.js'

/** A limiter that a request has passed, its decision, and what the request passed before. */
interface Passage {
  readonly limiter: object | undefined
  readonly decision: unknown
  readonly previous: Passage | undefined
}

/** The last passage of each request. It may pass limiters of several copies of this package. */
const passages = processWide('passages', () => new WeakMap<object, Passage>())
/**
 * The property for it of requests that are created with one, as Fastify's are by `decorateRequest`: it costs
 * less to set it than to add an entry to the `WeakMap`.
 */
export const PASSAGE = Symbol.for('headgate.passage')
/** The prototypes of requests that inherit the accessor `rateLimit`. */
const extended = processWide('extendedRequests', () => new WeakSet<object>())

/** Returns the decision of a limiter that a request has passed; `undefined` for others. */
export function decisionFor(req: object, limiter: object): Decision | undefined {
  let passage = hasRoom(req) ? req[PASSAGE] : passages.get(req)
  while (passage !== undefined && passage.limiter !== limiter) passage = passage.previous
  return passage?.decision as Decision | undefined
}

/** Sets `req.rateLimit`, and records that a request passed a limiter. Returns whether it is the first. */
export function recordPassage(req: { rateLimit?: unknown }, limiter: object, decision: unknown): boolean {
  if (hasRoom(req)) {
    const previous = req[PASSAGE]
    req[PASSAGE] = { limiter, decision, previous }
    const isFirst = previous === undefined && req.rateLimit === undefined
    req.rateLimit = decision
    return isFirst
  }
  const previous = passages.get(req)
  passages.set(req, { limiter, decision, previous })
  const prototype: object = Object.getPrototypeOf(req)
  if (extended.has(prototype)) return previous === undefined
  const isFirst = previous === undefined && req.rateLimit === undefined
  extendExpress(prototype)
  req.rateLimit = decision
  return isFirst
}

function hasRoom<Req extends object>(req: Req): req is Req & { [PASSAGE]: Passage | undefined } {
  return Object.hasOwn(req, PASSAGE)
}

/**
 * Makes `rateLimit` an accessor of Express' requests, as Express itself does with `req.ip`; other requests
 * have it as a property of their own. Express 4 and 5 set the prototype of each request, which gives every
 * request a hidden class of its own in V8: to add a property there costs more than to decide.
 */
function extendExpress(prototype: object): void {
  if (!Object.hasOwn(prototype, 'app')) return // so it is not `app.request`
  let base = prototype // `express.request` in the end, from which all applications' requests inherit
  for (let next = prototype; !isOfNode(next); next = Object.getPrototypeOf(base)) {
    if (next === null || (next !== prototype && Object.hasOwn(base, 'rateLimit'))) return
    base = next
  }
  if (!extended.has(base)) {
    if ('rateLimit' in base || !Reflect.defineProperty(base, 'rateLimit', ACCESSOR)) return
    extended.add(base)
  }
  extended.add(prototype)
}

/** Returns whether this is `IncomingMessage.prototype`: by its name, since not all servers have node:http. */
function isOfNode(prototype: object | null): boolean {
  if (prototype === null || !Object.hasOwn(prototype, 'constructor')) return false
  return prototype.constructor.name === 'IncomingMessage'
}

const ACCESSOR: PropertyDescriptor & ThisType<object> = {
  configurable: true,
  enumerable: true,
  get() {
    return passages.get(this)?.decision
  },
  set(decision: unknown) {
    passages.set(this, { limiter: undefined, decision, previous: passages.get(this) })
  },
}
