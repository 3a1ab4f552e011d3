import type { SettingsDocument } from './document.js'

/** A copy of a document for an edit, and whether the edit has read it. */
export interface WatchedCopy {
  readonly copy: SettingsDocument
  isRead(): boolean
}

/**
 * Watches whether an edit without a declared parameter reads its copy: through a rest parameter or in a
 * wrapper, it still can. Other edits get a plain copy, which can be printed, and count as having read it.
 */
export function watchedCopy(copy: SettingsDocument, { length }: { readonly length: number }): WatchedCopy {
  if (length > 0) return unwatchedCopy(copy)
  let isRead = false
  for (const [name, value] of Object.entries(copy)) {
    let current: unknown = value
    Object.defineProperty(copy, name, {
      enumerable: true,
      configurable: true,
      get() {
        isRead = true
        return current
      },
      set(next) {
        current = next
      },
    })
  }
  return { copy, isRead: () => isRead }
}

/** Returns a copy that counts as read. */
export function unwatchedCopy(copy: SettingsDocument): WatchedCopy {
  return { copy, isRead: () => true }
}
