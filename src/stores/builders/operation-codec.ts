import { indexIn } from '../../util/group-by.js'
import type { ChargeResult, KeyedPolicy, Operation, Outcome, Result } from '../operation.js'
import type { Unchecked } from '../shared/validate.js'
import { asStoreError, StoreError } from '../store-error.js'
import { policyFromText, policyText } from './policy-text.js'

/**
 * The version of these messages. A process of another version reports an error instead of misreading them.
 */
const VERSION = 1

/**
 * Operations as plain data that survives `JSON.stringify`, `structuredClone` and `process.send`. Its content
 * may change with any version of headgate.
 */
export interface OperationsMessage {
  readonly headgate: 'operations'
  readonly version: number
  /** Policies, which operations refer to by index. */
  readonly policies: readonly string[]
  readonly operations: readonly object[]
}

/** The outcomes of an `OperationsMessage`, or why there are none, as plain data. */
export interface OutcomesMessage {
  readonly headgate: 'outcomes'
  readonly version: number
  readonly outcomes?: readonly object[]
  readonly error?: object
}

/**
 * Stands for `Infinity`, which JSON does not have. No figure of a result is another string. In operations,
 * only `resetAtMs` may be infinite.
 */
const INFINITY = 'Infinity'

/** Encodes operations. Throws a `TypeError` if one of their policies cannot be encoded. */
export function encodeOperations(operations: readonly Operation[]): OperationsMessage {
  const indexes = new Map<string, number>()
  const encodeKeyed = <K extends KeyedPolicy>(keyed: K) => ({
    ...keyed,
    policy: indexIn(indexes, policyText(keyed.policy)),
  })
  const encoded = operations.map((operation) => {
    if (operation.type === 'charge') return { type: 'charge', parts: operation.parts.map(encodeKeyed) }
    const keyed = encodeKeyed(operation)
    return 'resetAtMs' in keyed && keyed.resetAtMs === Number.POSITIVE_INFINITY
      ? { ...keyed, resetAtMs: INFINITY }
      : keyed
  })
  return { headgate: 'operations', version: VERSION, policies: [...indexes.keys()], operations: encoded }
}

/** Decodes operations. Throws a `TypeError` for anything but a message of this version. */
export function decodeOperations(message: unknown): readonly Operation[] {
  const { headgate, version, policies, operations }: Unchecked<OperationsMessage> = message ?? {}
  if (headgate !== 'operations' || !Array.isArray(policies) || !Array.isArray(operations))
    throw new TypeError('the message is not one of ownerStore')
  if (version !== VERSION)
    throw new TypeError(`the message has version ${version}, but this process reads version ${VERSION}`)
  const byIndex = policies.map(policyFromText)

  function decodeKeyed<T extends object>(keyed: T): T {
    const { key, policy }: Unchecked<KeyedPolicy> = keyed
    const found = typeof policy === 'number' ? byIndex[policy] : undefined
    if (typeof key !== 'string' || found === undefined)
      throw new TypeError('an operation has no key or policy')
    return { ...keyed, policy: found }
  }

  return operations.map((operation: Operation): Operation => {
    if (operation?.type === 'charge') return { type: 'charge', parts: operation.parts.map(decodeKeyed) }
    const keyed: Operation & { resetAtMs?: unknown } = decodeKeyed(operation)
    return keyed.resetAtMs === INFINITY
      ? ({ ...keyed, resetAtMs: Number.POSITIVE_INFINITY } as Operation)
      : keyed
  })
}

/** Encodes the outcomes of operations. */
export function encodeOutcomes(store: string, outcomes: readonly Outcome[]): OutcomesMessage {
  const encoded = outcomes.map((outcome) =>
    outcome instanceof Error ? { error: encodeError(store, outcome) } : encodeResult(outcome),
  )
  return { headgate: 'outcomes', version: VERSION, outcomes: encoded }
}

/** Encodes why operations have no outcomes. */
export function encodeFailure(store: string, reason: unknown): OutcomesMessage {
  return { headgate: 'outcomes', version: VERSION, error: encodeError(store, reason) }
}

/**
 * Decodes the outcomes of `operations`. Throws the `StoreError` that the message contains. If the message
 * has neither an error nor an outcome for each operation, throws a `StoreError` with the name `store`.
 */
export function decodeOutcomes(
  store: string,
  operations: readonly Operation[],
  message: unknown,
): readonly Outcome[] {
  const { headgate, version, outcomes, error }: Unchecked<OutcomesMessage> = message ?? {}
  const isMessage = headgate === 'outcomes' && version === VERSION
  if (isMessage && error !== undefined) throw decodeError(error)
  if (isMessage && Array.isArray(outcomes) && outcomes.length === operations.length)
    return Array.from(outcomes, decodeOutcome)
  throw new StoreError(store, 'the owner process sent an invalid reply', { cause: message })
}

function decodeOutcome(outcome: Partial<Result> & { readonly error?: unknown }): Outcome {
  if (outcome?.error !== undefined) return decodeError(outcome.error)
  const decoded = decodeNumbers(outcome ?? {}) as Result
  if (decoded.type !== 'charge' || !Array.isArray(decoded.parts)) return decoded
  return { ...decoded, parts: Array.from(decoded.parts, decodeNumbers) as ChargeResult['parts'] }
}

function encodeResult(result: Result): object {
  if (result.type !== 'charge') return encodeNumbers(result)
  return { ...encodeNumbers(result), parts: result.parts.map(encodeNumbers) }
}

/** Encodes figures. Leaves out the states that some stores return with them. */
function encodeNumbers(figures: object): object {
  const entries = Object.entries(figures).filter(([name, value]) => name !== 'next' && value !== undefined)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === Number.POSITIVE_INFINITY ? INFINITY : value]),
  )
}

function decodeNumbers(figures: object): object {
  const entries = Object.entries(figures)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === INFINITY ? Number.POSITIVE_INFINITY : value]),
  )
}

function encodeError(name: string, reason: unknown): object {
  const { store, message, replied, unsent, server } = asStoreError(name, reason)
  return { store, message, replied, unsent, ...(server !== undefined && { server }) }
}

/** Decodes an error, whose message begins with the name of its store. */
function decodeError(error: unknown): StoreError {
  const { store, message, replied, unsent, server }: Unchecked<StoreError> = error ?? {}
  const name = typeof store === 'string' ? store : 'owner'
  const text = typeof message === 'string' ? message : ''
  return new StoreError(name, text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text, {
    replied: replied === true,
    unsent: unsent === true,
    server: typeof server === 'string' ? server : undefined,
  })
}
