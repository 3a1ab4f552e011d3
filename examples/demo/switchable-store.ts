import type { Store } from 'headgate'

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

  async function call<Result>(pass: () => Result | Promise<Result>): Promise<Result> {
    if (mode === 'rejects') throw new Error('The store is switched off.')
    if (mode === 'hangs') return new Promise(() => {})
    return pass()
  }

  return {
    name: store.name,
    get mode() {
      return mode
    },
    switchTo(next) {
      mode = next
      clearTimeout(backOn)
      if (mode !== 'on') backOn = setTimeout(() => (mode = 'on'), LONGEST_OUTAGE_MS).unref()
    },
    charge: (charges) => call(() => store.charge(charges)),
    refund: (refunds) => call(() => store.refund(refunds)),
    forget: (keys) => call(() => store.forget(keys)),
  }
}

export function isStoreMode(text: string): text is StoreMode {
  return MODES.includes(text as StoreMode)
}
