import type { State } from '../../policies/policy.js'
import { retry } from '../../util/retry.js'
import { applyOperations, keysOf, type Operation, type Result } from '../shared/apply-operations.js'
import { keyQueue } from '../shared/key-queue.js'
import { encodeState } from '../shared/state-codec.js'
import type { KeyedPolicy, Part } from '../store.js'
import { asStoreError, StoreError } from '../store-error.js'
import { foreignKeyError } from './errors.js'
import { swapScript } from './lua/multi-policy.js'
import { encodePolicy } from './policy-codec.js'
import type { ScriptCall } from './script-call.js'
import { scriptRunner } from './script-runner.js'
import type { Transport } from './transport.js'

/** A state as it was read, at the server's time. Zeros stand for a missing one. */
interface Version {
  readonly state: State
  readonly atMs: number
}

/** A swap of one key's state; without `expected` it only reads. The cost is 0. */
interface Swap extends Part {
  readonly expected?: State
  readonly next?: State | undefined
}

/**
 * Creates the function that changes the state of a key by operations in TypeScript. It reads the state and
 * the server's time, and writes if nobody has written meanwhile: two calls where nobody has. A `StoreError`
 * after thirty attempts, or two seconds of them, that others won.
 */
export function compareAndSwap(transport: Transport) {
  const send = scriptRunner(transport, swapCall)

  async function swap(item: Swap): Promise<Version> {
    let outcome: Version | Error | undefined
    await send([[item]], (_, answer) => {
      outcome = answer
    })
    if (outcome instanceof Error) throw outcome
    return outcome as Version
  }

  async function swapState(key: string, operations: readonly Operation[]): Promise<readonly Result[]> {
    const { policy } = keysOf(operations[0] as Operation)[0] as KeyedPolicy
    let version = await swap({ key, policy, cost: 0 })

    async function attempt(): Promise<readonly Result[] | undefined> {
      const { state: expected, atMs } = version
      const before = expected.every((number) => number === 0) ? undefined : expected
      const { results, writes } = applyOperations(operations, () => before, atMs)
      const [write] = writes.values() // all operations are of one key
      if (write === undefined || write.state === before) return results
      version = await swap({ key, policy, cost: 0, expected, next: write.state })
      return version.state.every((number, i) => number === expected[i]) ? results : undefined
    }

    const results = await retry(attempt, { isFinal: (swapped) => swapped !== undefined })
    if (results !== undefined) return results
    throw new StoreError('redis', `others changed the key ${key} during every attempt`, { answered: true })
  }

  const run = keyQueue(swapState)
  return async function apply(operation: Exclude<Operation, readonly Part[]>): Promise<void> {
    const { key } = keysOf(operation)[0] as KeyedPolicy
    const [failure] = await run(key, [operation])
    if (failure instanceof Error) throw asStoreError('redis', failure, { answered: true })
  }
}

/** Returns the call that swaps one state, and returns what it read: the expected state if it has swapped. */
function swapCall(items: readonly (readonly [Swap])[]): ScriptCall<Version> {
  const [[{ key, policy, expected, next }]] = items as readonly [readonly [Swap]]
  const hex = (state: State | undefined) => (state ? encodeState(state).toString('hex') : '')
  return {
    script: swapScript(),
    keys: [key],
    args: [`[${encodePolicy(policy).json}]`, '[1]', hex(expected), hex(next)],
    widths: [policy.width],
    resultsFrom: ({ atMs, states: [state], refusal }) => [
      state === undefined ? foreignKeyError(key) : (refusal ?? { state, atMs }),
    ],
  }
}
