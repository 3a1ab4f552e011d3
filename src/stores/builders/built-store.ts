import { callback } from '../../options/option-table.js'
import { wrongKind, wrongOption } from '../../util/validate.js'
import { isObject } from '../../util/values.js'
import { applyBy, type Run } from '../shared/run-operations.js'
import { checkBatching, checkDefaultTimeout } from '../shared/validate.js'
import type { Batching, Store } from '../store.js'

/** Options that all builders have. */
export interface CommonStoreOptions
  extends Pick<Store, 'defaultTimeoutMs' | 'serverOf' | 'onLimitsLost' | 'origin' | 'documents' | 'close'> {
  /** The store's name in errors and events, such as `'dynamodb'`. */
  readonly name: string
  /**
   * How operations of concurrent callers are batched. With `false`, each operation is sent alone and at once.
   * Default: batches of at most 256 keys, two in flight.
   */
  readonly batching?: Batching | false
}

const DEFAULT_BATCHING: Batching = { maxKeys: 256, maxInFlight: 2 }

/** The table rows of the common options. */
export const COMMON_ROWS = {
  name(owner: string, option: string, value: unknown): string {
    if (typeof value === 'string' && value !== '') return value
    throw wrongOption(owner, option, 'a name', value, "Write name: 'my-database'.")
  },
  batching(owner: string, option: string, value: unknown = DEFAULT_BATCHING): Batching | false {
    if (value === false) return value
    const fix = 'Write batching: { maxKeys: 256, maxInFlight: 2 }.'
    if (!isObject(value)) throw wrongKind(owner, option, 'an object or false', value, fix)
    checkBatching(owner, value)
    return value
  },
  defaultTimeoutMs(owner: string, _option: string, value: unknown): number | undefined {
    if (value !== undefined) checkDefaultTimeout(owner, value)
    return value
  },
  serverOf: callback<NonNullable<Store['serverOf']>>,
  onLimitsLost: callback<NonNullable<Store['onLimitsLost']>>,
  close: callback<NonNullable<Store['close']>>,
  origin: optionalObject<NonNullable<Store['origin']>>("Write origin: { client, table: 'limits' }."),
  documents: optionalObject<NonNullable<Store['documents']>>('Write documents: { read, replace }.'),
}

/** Creates a row for an object. `fix` shows how to write it. */
function optionalObject<T extends object>(fix: string) {
  return (owner: string, option: string, value: unknown): T | undefined => {
    if (value === undefined || isObject(value)) return value as T | undefined
    throw wrongKind(owner, option, 'an object', value, fix)
  }
}

/** Returns how many keys `run` gets at once. Without batching, it gets those of one operation. */
export function maxKeysOf(batching: Batching | false): number {
  return batching === false ? 1 : batching.maxKeys
}

/** Creates a store that runs operations in batches of at most `maxKeys` keys, or one at a time. */
export function builtStore(
  {
    name,
    batching,
    defaultTimeoutMs,
    serverOf,
    onLimitsLost,
    origin,
    documents,
    close,
  }: CommonStoreOptions & { readonly batching: Batching | false },
  run: Run,
): Store {
  return {
    name,
    apply: applyBy(`${name}Store`, run, { maxKeys: maxKeysOf(batching) }),
    ...(batching && { batching }),
    ...(defaultTimeoutMs && { defaultTimeoutMs }),
    ...(serverOf && { serverOf }),
    ...(onLimitsLost && { onLimitsLost }),
    ...(origin && { origin }),
    ...(documents && { documents }),
    ...(close && { close }),
  }
}
