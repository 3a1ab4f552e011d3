import { indexIn } from '../../util/group-by.js'
import { type Fields, fieldsOf } from '../../util/values.js'
import type { ChargeResult, KeyedPolicy, Operation, Outcome, PartResult, Result } from '../operation.js'
import { checkVersion, decodeError, encodeError, invalidReply, readReply, VERSION } from './owner-messages.js'
import { type PolicyFromText, policyText } from './policy-text.js'

/**
 * Operations as plain data that survives `JSON.stringify`, `structuredClone` and `process.send`. Its content
 * may change with any version of headgate.
 */
export interface OperationsMessage {
  readonly headgate: 'operations'
  readonly version: number
  /** Policies, which operations refer to by index. */
  readonly policies: readonly string[]
  /** A charge is a list of its parts, each a key, a policy and a cost. Any other operation is an object. */
  readonly operations: readonly object[]
}

/** The outcomes of an `OperationsMessage`, as plain data. */
export interface OutcomesMessage {
  readonly headgate: 'outcomes'
  readonly version: number
  /** The outcome of a charge is a list; any other one is an object. */
  readonly outcomes: readonly object[]
}

/** Encodes operations. Throws a `TypeError` if one of their policies cannot be encoded. */
export function encodeOperations(operations: readonly Operation[]): OperationsMessage {
  const indexes = new Map<string, number>()
  const indexOf = ({ policy }: KeyedPolicy) => indexIn(indexes, policyText(policy))
  const encoded = operations.map((operation) =>
    operation.type === 'charge'
      ? operation.parts.map((part) => [part.key, indexOf(part), part.cost])
      : { ...operation, policy: indexOf(operation) },
  )
  return { headgate: 'operations', version: VERSION, policies: [...indexes.keys()], operations: encoded }
}

/**
 * Decodes operations. Throws a `TypeError` for anything but a message of `ownerStore`, and a `StoreError`
 * with the name `store` for one of another version. Throws what `policyFromText` throws.
 */
export function decodeOperations(
  store: string,
  message: unknown,
  policyFromText: PolicyFromText,
): readonly Operation[] {
  const { headgate, version, policies, operations } = fieldsOf(message)
  if (headgate !== 'operations') throw new TypeError('the message is not one of ownerStore')
  checkVersion(store, version)
  if (!Array.isArray(policies) || !Array.isArray(operations))
    throw new TypeError('the message is not one of ownerStore')
  const byIndex = policies.map(policyFromText)

  function decodeKeyed(key: unknown, index: unknown): KeyedPolicy {
    const policy = typeof index === 'number' ? byIndex[index] : undefined
    if (typeof key === 'string' && policy !== undefined) return { key, policy }
    throw new TypeError('an operation has no key or policy')
  }

  return operations.map((operation: unknown): Operation => {
    if (Array.isArray(operation)) {
      const parts = operation.map(([key, policy, cost]) => ({ ...decodeKeyed(key, policy), cost }))
      return { type: 'charge', parts }
    }
    const fields = decodeNumbers(fieldsOf(operation))
    const { key, policy, resetAtMs = 0 } = fields
    if (typeof resetAtMs !== 'number') throw new TypeError('resetAtMs is not a number')
    return { ...fields, ...decodeKeyed(key, policy) } as Operation
  })
}

/** Encodes the outcomes of operations. */
export function encodeOutcomes(store: string, outcomes: readonly Outcome[]): OutcomesMessage {
  const encoded = outcomes.map((outcome) => {
    if (outcome instanceof Error) return { error: encodeError(store, outcome) }
    return outcome.type === 'charge' ? encodeVerdict(outcome) : outcome
  })
  return { headgate: 'outcomes', version: VERSION, outcomes: encoded }
}

/** The figures that every part has, and those that only a few parts have. */
type Encoded = [
  allowed: boolean,
  remaining: number,
  retry: number,
  more: number,
  reset: number,
  rest?: object,
]

function encodeVerdict({ allowed, atMs, isTentative, parts }: ChargeResult): object {
  return [allowed, isTentative === true, atMs, ...parts.map(encodePart)]
}

/** Encodes figures, without the state that some stores return with them. */
function encodePart(part: PartResult): Encoded {
  const { allowed, remaining, retryAfterMs, moreAfterMs, resetAfterMs } = part
  const { unitsAfterMs, debt, isCounted, isBanned, atMs } = part
  const encoded: Encoded = [allowed, remaining, retryAfterMs, moreAfterMs, resetAfterMs]
  const isUsual = (unitsAfterMs ?? debt ?? isCounted ?? isBanned ?? atMs) === undefined
  if (!isUsual) encoded.push({ unitsAfterMs, debt, isCounted, isBanned, atMs })
  return encoded
}

/**
 * Decodes the outcomes of `operations`. Throws the `StoreError` that the reply contains, and one with the
 * name `store` if the reply has no outcome for each operation.
 */
export function decodeOutcomes(
  store: string,
  operations: readonly Operation[],
  message: unknown,
): readonly Outcome[] {
  const { outcomes } = readReply(store, 'outcomes', message)
  if (!Array.isArray(outcomes) || outcomes.length !== operations.length) throw invalidReply(store, message)
  return outcomes.map((outcome: unknown): Outcome => {
    if (Array.isArray(outcome)) return decodeVerdict(outcome)
    const { error, ...result } = fieldsOf(outcome)
    return error === undefined ? (decodeNumbers(result) as unknown as Result) : decodeError(error)
  })
}

function decodeVerdict([allowed, isTentative, atMs, ...parts]: readonly unknown[]): Outcome {
  return {
    type: 'charge',
    allowed,
    atMs,
    parts: parts.map((part) => decodePart(part as Encoded)),
    ...(isTentative === true && { isTentative }),
  } as ChargeResult
}

function decodePart([allowed, remaining, retry, more, reset, rest]: Encoded): PartResult {
  const figures = {
    allowed,
    remaining: numberOf(remaining),
    retryAfterMs: numberOf(retry),
    moreAfterMs: numberOf(more),
    resetAfterMs: numberOf(reset),
  }
  return rest === undefined ? figures : { ...figures, ...decodeNumbers(rest) }
}

/** Returns a number. JSON writes `null` for `Infinity`, and these messages leave out no numbers. */
function numberOf(value: unknown): number {
  return value === null ? Number.POSITIVE_INFINITY : (value as number)
}

/** Returns the fields that are set, with their numbers. */
function decodeNumbers(fields: object): Fields {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries.map(([name, value]) => [name, value === null ? numberOf(value) : value]))
}
