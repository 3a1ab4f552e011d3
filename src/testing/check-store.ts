import type { Store } from '../stores/store.js'
import { wrongKind } from '../util/validate.js'

/** Throws a `TypeError` for what is no store. */
export function checkStore(owner: string, store: unknown, fix?: string): void {
  const { name, charge, refund, forget } = (store ?? {}) as Partial<Store>
  const hasMethods = [charge, refund, forget].every((method) => typeof method === 'function')
  if (typeof name === 'string' && hasMethods) return
  throw wrongKind(owner, 'store', 'an object with name, charge, refund and forget', store, fix)
}
