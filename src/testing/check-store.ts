import { readStore } from '../pipe/read-store.js'
import { isStore } from '../stores/shared/validate.js'
import { wrongKind } from '../util/validate.js'

export function checkStore(owner: string, store: unknown, fix?: string): void {
  if (!isStore(store)) throw wrongKind(owner, 'store', 'an object with name and apply', store, fix)
  readStore(owner, 'store', store)
}
