import { createLimiter, type Limiter, type Store, type StoreError } from 'headgate'
import type { LimiterFields } from '../../../../src/limiter/options.js'
import { EVERY_NAME, type HotLimit, limitNamed, type Numbers } from './limits.js'
import type { Costs } from './sequential.js'

/** Who calls, and why the store could not decide. */
export interface Subject {
  readonly identity: string
  /** What a charge of several keys takes, by the names of their limits. */
  readonly costs?: Costs | undefined
  error?: StoreError
}

/** The limiters of a limit, which share its keys. */
export interface Limiters {
  readonly current: Limiter<Subject>
  /** The limiter with the older numbers. */
  readonly older: Limiter<Subject>
}

type NumbersOf = (limit: HotLimit) => Numbers

const currentOf: NumbersOf = (limit) => limit
const olderOf: NumbersOf = ({ older }) => older

/** Creates the limiters of each limit. Each decision is the store's, or the subject says why it is not. */
export function limitersOn(store: Store, timeoutMs: number): Readonly<Record<string, Limiters>> {
  const create = (name: string, numbersOf: NumbersOf) =>
    createLimiter({
      store,
      name,
      ...limitsOf(limitNamed(name), numbersOf),
      timeout: `${timeoutMs}ms`,
      denyCache: false,
      onStoreError(error, subject) {
        subject.error = error
        return 'deny'
      },
    })
  return Object.fromEntries(
    EVERY_NAME.map((name) => [name, { current: create(name, currentOf), older: create(name, olderOf) }]),
  )
}

const key = ({ identity }: Subject) => identity

/** The older numbers are a function's, since limiters with one name and two policies would warn. */
function limitsOf(
  limit: HotLimit,
  numbersOf: NumbersOf,
): Pick<LimiterFields<Subject>, 'policy' | 'key' | 'limits'> {
  const { policy } = numbersOf(limit)
  if (limit.together === undefined) return { policy: policy === limit.policy ? policy : () => policy, key }
  const limits = limit.together.map((name) => ({
    name,
    policy: () => numbersOf(limitNamed(name)).policy,
    skip: ({ costs }: Subject) => costs?.[name] === undefined,
    cost: ({ costs }: Subject) => costs?.[name] ?? 0,
    key,
  }))
  return { limits }
}
