import { userLine } from '../util/user-frames.js'
import { warnOnce } from '../util/warn-once.js'
import type { Decision } from './decision.js'

/** The fields of a decision that no promise has. */
const FIELDS = [
  'allowed',
  'limit',
  'remaining',
  'resetAfterMs',
  'retryAfterMs',
  'moreAfterMs',
  'limitName',
  'parts',
  'source',
] as const satisfies readonly (keyof Decision)[]

/**
 * The prototype of promises of decisions. A field that is read from one is `undefined`, so that everyone is
 * allowed or everyone denied. It inherits `constructor`, so `await` takes no extra step.
 */
const PROTOTYPE: object = Object.create(
  Promise.prototype,
  Object.fromEntries(
    FIELDS.map((name) => [
      name,
      {
        get: () => warn(name, new Error('read here').stack),
        set(this: object, value: unknown) {
          Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
        },
        configurable: true,
      },
    ]),
  ),
)

/** How many promises of a limiter are watched. The mistake shows at the first one, and each costs time. */
const WATCHED = 20

/**
 * Creates the function that watches the promises of a limiter's decisions. Reading a field of the decision
 * from a watched promise warns. Only the first promises are watched, because V8 takes longer to await a
 * promise with another prototype.
 */
export function unawaitedWatch(): (promise: Promise<Decision>) => Promise<Decision> {
  let left = WATCHED
  return function watchPromise(promise) {
    if (left === 0) return promise
    left--
    return Object.setPrototypeOf(promise, PROTOTYPE)
  }
}

function warn(name: string, stack: string | undefined): undefined {
  warnOnce(
    'HEADGATE_NOT_AWAITED',
    `headgate: ${name} was read from a promise, ${userLine('limiter/unawaited-decision', stack)}, so it is ` +
      `always undefined. Write (await limiter.charge(subject)).${name}.`,
  )
}
