import type { Decision } from '../limiter/decision.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { userLine } from '../util/user-frames.js'
import { warnOnce } from '../util/warn-once.js'

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

/** Returns what `charge` returns. If it is a promise, reading a field of the decision from it warns. */
export function watchAwait<Result extends MaybePromise<Decision>>(result: Result): Result {
  return Object.getPrototypeOf(result) === Promise.prototype
    ? Object.setPrototypeOf(result, PROTOTYPE)
    : result
}

function warn(name: string, stack: string | undefined): undefined {
  warnOnce(
    'HEADGATE_NOT_AWAITED',
    `headgate: ${name} was read from a promise, ${userLine(stack)}, so it is always undefined. ` +
      `Write (await limiter.charge(subject)).${name}.`,
  )
}
