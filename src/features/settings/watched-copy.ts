import type { SettingsDocument } from './document.js'

/** A copy of a document for an edit, and whether the edit has looked at it. */
export interface WatchedCopy {
  readonly copy: SettingsDocument
  isRead(): boolean
}

/**
 * Watches a copy for an edit. One that declares no parameter can still read it as a rest parameter, or a
 * wrapper may do so. Others get a plain copy, which can be printed, and count as having read it.
 */
export function watchedCopy(copy: SettingsDocument, { length }: { readonly length: number }): WatchedCopy {
  if (length > 0) return unwatched(copy)
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

/** Takes for granted that an edit looks at what it gets. */
export function unwatched(copy: SettingsDocument): WatchedCopy {
  return { copy, isRead: () => true }
}
