import { isPromise } from '../../util/maybe-promise.js'
import { wrongKind } from '../../util/validate.js'
import type { Unchecked } from '../shared/validate.js'

/** A key of Deno KV. */
export type KvKey = readonly string[]

/** What Deno KV holds under a key. Both fields are `null` if the key is missing. */
export interface KvEntry {
  readonly value: unknown
  readonly versionstamp: string | null
}

/** A transaction that commits if its checks hold. */
export interface KvAtomic {
  check(check: { readonly key: KvKey; readonly versionstamp: string | null }): KvAtomic
  set(key: KvKey, value: unknown, options?: { readonly expireIn?: number }): KvAtomic
  delete(key: KvKey): KvAtomic
  commit(): Promise<{ readonly ok: boolean }>
}

/** What the store needs of a `Deno.Kv` (https://docs.deno.com/api/deno/~/Deno.Kv). */
export interface DenoKv {
  /** Reads are strongly consistent by default. */
  get(key: KvKey): Promise<KvEntry>
  getMany(keys: readonly KvKey[]): Promise<readonly KvEntry[]>
  atomic(): KvAtomic
}

/** Returns the KV. Throws a `TypeError` for a value that lacks what the store needs. */
export function readKv(value: unknown): DenoKv {
  if (isKv(value)) return value
  const fix = isPromise(value)
    ? 'Await it: denoKvStore(await Deno.openKv()).'
    : 'Write denoKvStore(await Deno.openKv()).'
  throw wrongKind('denoKvStore', 'kv', 'a Deno.Kv', value, fix)
}

function isKv(value: unknown): value is DenoKv {
  const { get, getMany, atomic }: Unchecked<DenoKv> = value ?? {}
  return [get, getMany, atomic].every((method) => typeof method === 'function')
}
