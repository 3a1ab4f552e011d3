const NAME = 'headgate-operator'

/** Creates the functions that say who makes a change, and that remember the name in this browser. */
export function changeActions(session) {
  return {
    /** Returns the name that this browser remembers; `undefined` if the server knows who acts. */
    rememberedName: () => (session().operator === undefined ? (localStorage.getItem(NAME) ?? '') : undefined),
    /** Returns who acts, and remembers the name. A change without a name is recorded as one. */
    nameOf(text) {
      if (session().operator !== undefined) return {}
      const by = text.trim()
      if (by !== '') localStorage.setItem(NAME, by)
      return { by: by || 'an unnamed operator' }
    },
  }
}
