import type { Operation, Outcome } from '../stores/operation.js'
import type { Deadline } from '../util/timeout.js'
import type { PendingOperation } from './batcher.js'
import type { Generation } from './circuit-breaker.js'
import type { DenialCache } from './denial-cache.js'
import type { DenialTimes } from './lease/leases.js'
import type { OnLate, SettleAny } from './pipe.js'

/** The pipe that sends a call: a `RemotePipe`. */
interface Sender {
  readonly denialTimes: DenialTimes
  /** Ends the time-out of a call that has its outcome, and records what that says of the server. */
  record(call: Call, outcome: Outcome): void
  /** Tells of an outcome that came after that. */
  recordLate(call: Call, outcome: Outcome): void
  /** Settles a call whose time-out has passed. */
  expire(call: Call): void
}

const ignoreOutcome: SettleAny = () => {}

/**
 * An operation on its way to a remote store. It is all that a pipe allocates for the operation. `declare`
 * omits field initialisers, which would set each field twice.
 */
export class Call implements PendingOperation, Deadline {
  declare readonly operation: Operation
  /** By `performance.now()`. */
  declare readonly sentAtMs: number
  /** Whether the caller, who got nothing at once, has its outcome now. */
  declare isSettled: boolean
  /** The circuit breaker's period that admitted the call. */
  declare generation: Generation | undefined
  /** Whether the pipe has sent another call in place of this one. */
  declare isReplaced: boolean
  declare dueAtMs: number
  declare earlier: Deadline | undefined
  declare later: Deadline | undefined
  declare private readonly pipe: Sender
  /** Sees the outcome. */
  declare private readonly denials: DenialCache | undefined
  declare private resolve: SettleAny
  declare private readonly onLate: OnLate | undefined

  constructor(
    pipe: Sender,
    denials: DenialCache | undefined,
    operation: Operation,
    resolve: SettleAny,
    onLate: OnLate | undefined,
  ) {
    this.operation = operation
    this.sentAtMs = performance.now()
    this.isSettled = false
    this.generation = undefined
    this.isReplaced = false
    this.dueAtMs = 0
    this.earlier = undefined
    this.later = undefined
    this.pipe = pipe
    this.denials = denials
    this.resolve = resolve
    this.onLate = onLate
  }

  /** Passes the outcome back to the caller. Each further outcome is late. */
  settle(outcome: Outcome): void {
    const { operation, denials, pipe, resolve } = this
    if (this.isSettled) {
      denials?.invalidate(operation)
      pipe.recordLate(this, outcome)
      this.onLate?.(outcome, operation)
      return
    }
    this.isSettled = true
    this.resolve = ignoreOutcome // it keeps the request in memory
    pipe.record(this, outcome)
    denials?.after(operation, outcome, this.sentAtMs, pipe.denialTimes)
    resolve(outcome)
  }

  onExpired(): void {
    this.pipe.expire(this)
  }
}
