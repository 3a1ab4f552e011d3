import type { Store } from 'headgate'
import { customStore } from 'headgate/store'

const MODES = ['on', 'rejects', 'hangs'] as const

/** What a switchable store does with calls: passes them on, rejects them, or never answers them. */
export type StoreMode = (typeof MODES)[number]

export interface SwitchableStore extends Store {
  readonly mode: StoreMode
  switchTo(mode: StoreMode): void
}

/** The longest outage. A page that was closed leaves its store off. */
const LONGEST_OUTAGE_MS = 60_000

/** Creates a store that can be made to fail. It is not a memory store, so that limiters protect it. */
export function switchableStore(store: Store): SwitchableStore {
  let mode: StoreMode = 'on'
  let backOn: NodeJS.Timeout | undefined

  return customStore({
    name: store.name,
    get mode() {
      return mode
    },
    switchTo(next) {
      mode = next
      clearTimeout(backOn)
      if (mode !== 'on') backOn = setTimeout(() => (mode = 'on'), LONGEST_OUTAGE_MS).unref()
    },
    async apply(operations) {
      if (mode === 'rejects') throw new Error('The store is switched off.')
      if (mode === 'hangs') return new Promise(() => {})
      return store.apply(operations)
    },
  })
}

export function isStoreMode(text: string): text is StoreMode {
  return MODES.includes(text as StoreMode)
}
