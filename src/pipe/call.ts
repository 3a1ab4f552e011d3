import type { Operation, Outcome } from '../stores/operation.js'
import type { Deadline, Deadlines } from '../util/timeout.js'
import type { Generation } from './circuit-breaker.js'
import { type OnLate, type Pipe, type SettleAny, sendFor } from './pipe.js'

/** What a layer returns for a call that it keeps, and settles later. */
export const HELD = 'held'

/** One of the things that stand between a limiter and its store. It sees each call on both ways. */
export interface Layer {
  /**
   * Sees a call on its way to the store. Returns the outcome if the layer knows it. The call then turns
   * back, and only the layers before this one see the outcome.
   */
  before(call: Call): Outcome | typeof HELD | undefined
  /** Sees the outcome on its way back. Returns the outcome for the layers before this one. */
  after(call: Call, outcome: Outcome): Outcome
  /** The deadlines of calls whose outcome is not known at once. At most one layer of a pipe has them. */
  readonly deadlines?: Deadlines
  /** Sees a call whose deadline has passed, and settles it. */
  expire?(call: Call): void
  /** Sees an outcome that comes after the call was settled without it. */
  late?(call: Call, outcome: Outcome): void
}

/** What a pipe ends in. Returns the outcome if it is known at once. Otherwise settles the call later. */
export type End = (call: Call) => Outcome | undefined

const ignoreOutcome: SettleAny = () => {}

/**
 * An operation on its way through a pipe. It is all that a pipe allocates for the operation, so it has room
 * for what the layers note about it. `declare` omits field initialisers, which would set each field twice.
 */
export class Call implements Deadline {
  declare readonly operation: Operation
  /** By `performance.now()`. */
  declare readonly sentAtMs: number
  /** Whether the caller, who got nothing at once, has its outcome now. */
  declare isSettled: boolean
  /** The circuit breaker's period that admitted the call. */
  declare generation: Generation | undefined
  /** Whether the guard has sent another call in place of this one. */
  declare isReplaced: boolean
  declare dueAtMs: number
  declare earlier: Deadline | undefined
  declare later: Deadline | undefined
  declare private readonly layers: readonly Layer[]
  /** How many layers the call has passed on its way to the store. */
  declare passed: number
  declare private resolve: SettleAny
  declare private readonly onLate: OnLate | undefined

  constructor(
    operation: Operation,
    resolve: SettleAny,
    onLate: OnLate | undefined,
    layers: readonly Layer[],
  ) {
    this.operation = operation
    this.sentAtMs = performance.now()
    this.isSettled = false
    this.generation = undefined
    this.isReplaced = false
    this.dueAtMs = 0
    this.earlier = undefined
    this.later = undefined
    this.layers = layers
    this.passed = 0
    this.resolve = resolve
    this.onLate = onLate
  }

  /** Passes the outcome back to the caller. Each further outcome is late. */
  settle(outcome: Outcome): void {
    if (this.isSettled) {
      this.passLate(outcome)
      return
    }
    this.isSettled = true
    const { resolve } = this
    this.resolve = ignoreOutcome // it keeps the request in memory
    resolve(this.turnBack(outcome))
  }

  /** Passes on an outcome that comes after the caller got another. */
  passLate(outcome: Outcome): void {
    for (const layer of this.layers) layer.late?.(this, outcome)
    this.onLate?.(outcome, this.operation)
  }

  onExpired(): void {
    for (const layer of this.layers) layer.expire?.(this)
  }

  /** Shows an outcome to the layers that the call has passed. Returns what they make of it. */
  turnBack(outcome: Outcome): Outcome {
    let changed = outcome
    while (this.passed > 0) changed = this.layers[--this.passed]?.after(this, changed) ?? changed
    return changed
  }
}

/** Creates the pipe that leads through layers, the first one first, to its end. */
export function pipeOf(layers: readonly Layer[], end: End): Pipe {
  const { deadlines } = layers.find((layer) => layer.deadlines !== undefined) ?? {}

  function send(operation: Operation, settle: SettleAny, onLate?: OnLate): Outcome | undefined {
    const call = new Call(operation, settle, onLate, layers)
    let outcome: Outcome | typeof HELD | undefined
    for (const layer of layers) {
      outcome = layer.before(call)
      if (outcome !== undefined) break
      call.passed++
    }
    outcome ??= end(call)
    if (outcome !== undefined && outcome !== HELD) return call.turnBack(outcome)
    deadlines?.watch(call, call.sentAtMs)
    return undefined
  }

  return { send: sendFor(send) }
}

/** Returns the end of a pipe that leads into another pipe. */
export function intoPipe(pipe: Pipe): End {
  return (call) =>
    pipe.send(
      call.operation,
      (outcome) => call.settle(outcome),
      (late) => call.passLate(late),
    )
}
