import { isKey } from '../keys/value-identity.js'
import { optional, readOptions } from '../options/option-table.js'
import { choice, wrongKind } from '../util/validate.js'
import { fieldsOf, hasMethods, isObject } from '../util/values.js'
import { PRIORITIES, type Priority } from './cohorts.js'
import { isTenant, MAX_TENANT_LENGTH, OWNER } from './option-functions.js'

/** The options of a guarded call. */
export interface RunOptions {
  /** Ends the wait when it aborts. The function also gets it. */
  signal?: AbortSignal
  /** How important the call is. Default `'default'`. */
  priority?: Priority
  /**
   * What the call does, such as `'report'`. Like the `routeClass` of a request, it groups calls whose
   * latencies are compared. At most 500 operations are kept, and all others share one. Default: one
   * operation for all calls.
   */
  operation?: string
  /** The tenant that the call is for. */
  tenant?: string
  /**
   * Who the call is for, such as the id of a user. Under overload, the calls of a client are either all
   * served or all denied for some seconds. Default: each call has its own client.
   */
  client?: string
}

/** The options of a call that has none. */
export const NO_OPTIONS: RunOptions = {}

const MAX_OPERATION_LENGTH = 256

/** Options of a call that have been read. */
type ReadRunOptions = { readonly [Name in keyof RunOptions]: RunOptions[Name] | undefined }

/** Returns the options of a call. Throws a `TypeError` that lists all problems. */
export function readRunOptions(options: RunOptions): ReadRunOptions {
  return options === NO_OPTIONS
    ? options
    : (quickRead(options) ?? readOptions(`${OWNER}: run`, options, TABLE()))
}

/**
 * Reads valid options of a plain object without the table, since that takes longer than the rest of a call.
 */
function quickRead(options: unknown): ReadRunOptions | undefined {
  if (!isObject(options) || Object.getPrototypeOf(options) !== Object.prototype) return undefined
  for (const name in options) if (!NAMES.has(name)) return undefined
  const { signal, priority, operation, tenant, client } = fieldsOf(options)
  const areValid =
    (signal === undefined || isSignal(signal)) &&
    (priority === undefined || PRIORITIES.includes(priority as Priority)) &&
    (operation === undefined || isOperation(operation)) &&
    (tenant === undefined || isTenant(tenant)) &&
    (client === undefined || isClient(client))
  return areValid ? ({ signal, priority, operation, tenant, client } as ReadRunOptions) : undefined
}

const NAMES = /* @__PURE__ */ new Set(['signal', 'priority', 'operation', 'tenant', 'client'])

const TABLE = () => ({
  rows: {
    signal: optional(readSignal),
    priority: optional(choice<Priority>(...PRIORITIES)),
    operation: optional(text(isOperation, atMost(MAX_OPERATION_LENGTH), "Write operation: 'report'.")),
    tenant: optional(text(isTenant, atMost(MAX_TENANT_LENGTH), 'Write tenant: String(id).')),
    client: optional(
      text(isClient, `${atMost(1024)}, without NUL or unpaired surrogates`, 'Write client: String(user.id).'),
    ),
  },
  objectFix: "Write guard.run(call, { signal, priority: 'critical' }).",
})

function atMost(characters: number): string {
  return `a string of at most ${characters} characters`
}

/** Returns the reader of an option that must be a string of this kind. */
function text(isValid: (value: unknown) => value is string, kind: string, fix: string) {
  return (owner: string, option: string, value: unknown): string => {
    if (isValid(value)) return value
    throw wrongKind(owner, option, kind, value, fix)
  }
}

function readSignal(owner: string, option: string, signal: unknown): AbortSignal {
  if (isSignal(signal)) return signal
  throw wrongKind(owner, option, 'an AbortSignal', signal, 'Did you mean signal: controller.signal?')
}

const isClient = (value: unknown): value is string => typeof value === 'string' && isKey(value)

const isOperation = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_OPERATION_LENGTH

const isSignal = (value: unknown): value is AbortSignal =>
  typeof fieldsOf(value).aborted === 'boolean' && hasMethods(value, 'addEventListener')
