import { callback } from '../../options/option-table.js'
import { wrongKind, wrongOption } from '../../util/validate.js'
import { applyBy, type Run } from '../shared/run-operations.js'
import { checkBatching } from '../shared/validate.js'
import type { Batching, Store } from '../store.js'

/** Options that all builders have. */
export interface CommonStoreOptions
  extends Pick<Store, 'serverOf' | 'onLimitsLost' | 'origin' | 'documents' | 'close'> {
  /** The store's name in errors and events, such as `'dynamodb'`. */
  readonly name: string
  /**
   * How operations of concurrent callers are batched. Default: batches of at most 256 keys, two in flight.
   */
  readonly batching?: Batching
}

const DEFAULT_BATCHING: Batching = { maxKeys: 256, maxInFlight: 2 }

/** The table rows of the common options. */
export const COMMON_ROWS = {
  name(owner: string, option: string, value: unknown): string {
    if (typeof value === 'string' && value !== '') return value
    throw wrongOption(owner, option, 'a name', value, "Write name: 'my-database'.")
  },
  batching(owner: string, option: string, value: unknown = DEFAULT_BATCHING): Batching {
    if (typeof value !== 'object' || value === null)
      throw wrongKind(owner, option, 'an object', value, 'Write batching: { maxKeys: 256, maxInFlight: 2 }.')
    checkBatching(owner, value)
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
    if (value === undefined || (typeof value === 'object' && value !== null)) return value as T | undefined
    throw wrongKind(owner, option, 'an object', value, fix)
  }
}

/** Creates a row for a function that has no default. `fix` shows how to write it. */
export function requiredFunction<F>(fix: string) {
  return (owner: string, option: string, value: unknown): F => {
    if (typeof value === 'function') return value as F
    throw wrongKind(owner, option, 'a function', value, fix)
  }
}

/** Creates a store that runs operations in batches of at most `maxKeys` keys. */
export function builtStore(
  {
    name,
    batching,
    serverOf,
    onLimitsLost,
    origin,
    documents,
    close,
  }: CommonStoreOptions & { readonly batching: Batching },
  run: Run,
): Store {
  return {
    name,
    batching,
    apply: applyBy(`${name}Store`, run, batching),
    ...(serverOf && { serverOf }),
    ...(onLimitsLost && { onLimitsLost }),
    ...(origin && { origin }),
    ...(documents && { documents }),
    ...(close && { close }),
  }
}
